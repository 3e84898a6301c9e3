import { Lazy, Stack, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { given, withDefaults } from '../construct/blueprint';
import { protectWhileRetained, recoveryUnlessChosen } from '../construct/kept-table';
import { COUNT_TABLE_EXPIRY, COUNT_TABLE_INDEX, COUNT_TABLE_VALUE } from '../core/adaptive-counts/shard-count-table';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { type DescribedIndex, describeIndexes } from '../deployment-check/sharding-metadata';
import { adviseOnIndexShards } from './index/index-advice';
import { ShardedIndex } from './index/sharded-index';
import type { ShardedIndexOptions } from './index/sharded-index-options';
import { shardedIndexSettings } from './index/sharded-index-settings';

/**
 * Properties of a `ShardedTable`: those of `dynamodb.TableV2`. Two defaults differ, and the documentation that is inherited
 * with the properties does not say so:
 *
 * - `pointInTimeRecoverySpecification`: `{ pointInTimeRecoveryEnabled: true }`, where `TableV2` has none
 * - `contributorInsightsSpecification`: `{ enabled: true, mode: THROTTLED_KEYS }`, which names keys that are throttled, but
 *   not those of writes that an index throttles, and costs by what it counts, where `TableV2` has none
 */
export interface ShardedTableProps extends dynamodb.TablePropsV2 {}

const THROTTLED_KEYS: dynamodb.ContributorInsightsSpecification = {
  enabled: true,
  mode: dynamodb.ContributorInsightsMode.THROTTLED_KEYS,
};

/**
 * A DynamoDB table whose indexes can be sharded: a global secondary index keyed by a status or by time alone is one hot
 * partition, and its back-pressure throttles the writes to the table itself.
 *
 * Use it in place of `dynamodb.TableV2`, of which it has every method. It is billed on demand, retained when it leaves
 * the stack, can be restored to a point in time, and has CloudWatch name keys that are throttled (Contributor Insights, in
 * the mode that sees throttled requests alone), unless its properties say otherwise. DynamoDB does not count writes there
 * that are throttled because of an index: the mode `ACCESSED_AND_THROTTLED_KEYS` names the busiest keys of an index.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-gsi-sharding.html
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * const orders = new ShardedTable(stack, 'Orders', {
 *   partitionKey: { name: 'orderId', type: dynamodb.AttributeType.STRING },
 * });
 * orders.addShardedIndex({
 *   indexName: 'byStatus',
 *   valueAttribute: { name: 'status', type: dynamodb.AttributeType.STRING },
 *   sortKey: { name: 'createdAt', type: dynamodb.AttributeType.STRING },
 *   shardCounts: ShardCounts.byValue({ pending: 5 }, 1),
 * });
 */
export class ShardedTable extends dynamodb.TableV2 {
  private readonly tableKey: string[];
  private readonly shardedIndexes: DescribedIndex[] = [];
  private readonly keep: KeepOptions;
  private shardCountTable?: dynamodb.TableV2;

  /**
   * A table; give it sharded indexes with `addShardedIndex`.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope
   * @param props what `dynamodb.TableV2` takes
   */
  constructor(scope: Construct, id: string, props: ShardedTableProps) {
    super(scope, id, withDefaults(scope, dynamodb.TableV2.PROPERTY_INJECTION_ID, props, defaults));
    this.tableKey = [props.partitionKey, props.sortKey].flatMap((attribute) => attribute?.name ?? []);
    const { encryption, removalPolicy, deletionProtection } = props;
    this.keep = { encryption, removalPolicy, deletionProtection };
    guardDeployment(this);
  }

  /**
   * Adds a global secondary index that spreads each of its values over several shards.
   *
   * DynamoDB adds one index to an existing table at a time, so add further ones in further deployments. Its key cannot
   * change under the same name; its shard counts can. The first index with `ShardCounts.adaptive` adds a table of counts,
   * which is encrypted, retained and protected as this table is, and can be restored to a point in time.
   *
   * @param props what to shard, by how much and in which order
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the properties contradict each other, the table or its other
   *   indexes, `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have, and
   *   `INVALID_SHARD_COUNT` if there are no `shardCounts`, where no type checker sees it
   */
  public addShardedIndex(props: ShardedIndexOptions): ShardedIndex {
    const settings = shardedIndexSettings(
      {
        table: this,
        tableKey: this.tableKey,
        shardedIndexes: this.shardedIndexes.map((index) => index.config),
        keyAttributes: this.keyAttributes(),
        shardCountTable: () => this.addedShardCountTable(),
        writers: { functions: new Set(), readers: new Set(), hasOthers: false },
      },
      props,
    );
    const { config, shardCountTable } = settings;
    if (props.expectedTraffic) adviseOnIndexShards(this, config, props.expectedTraffic);
    this.addGlobalSecondaryIndex(
      given({
        indexName: config.indexName,
        partitionKeys: [...settings.partitionKeys],
        sortKeys: [...settings.sortKeys],
        projectionType: props.projectionType,
        nonKeyAttributes: props.nonKeyAttributes && [...props.nonKeyAttributes].sort(),
        readCapacity: props.readCapacity,
        writeCapacity: props.writeCapacity,
        maxReadRequestUnits: props.maxReadRequestUnits,
        maxWriteRequestUnits: props.maxWriteRequestUnits,
        warmThroughput: props.warmThroughput,
      }),
    );
    const described = { config, ...(shardCountTable && { countTable: identityOf(shardCountTable) }) };
    this.shardedIndexes.push(described);
    const resource = this.node.defaultChild as dynamodb.CfnGlobalTable;
    describeIndexes(resource, this.shardedIndexes);
    const { contributorInsightsSpecification: insights } = props;
    if (insights !== undefined) specifyInsights(resource, config.indexName, insights);
    return ShardedIndex._of(this, settings);
  }

  private addedShardCountTable(): dynamodb.TableV2 {
    this.shardCountTable ??= addShardCountTable(this, this.keep);
    return this.shardCountTable;
  }

  /** Of the table and all its indexes so far. Read from the resource: TableV2 keeps its indexes to itself. */
  private keyAttributes(): string[] {
    const { attributeDefinitions } = this.node.defaultChild as dynamodb.CfnGlobalTable;
    const definitions: dynamodb.CfnGlobalTable.AttributeDefinitionProperty[] = this.stack.resolve(attributeDefinitions);
    return definitions.map(({ attributeName }) => attributeName);
  }
}

/** What stays the same from one synthesis to the next: a table of the app gets its name when it is deployed. */
function identityOf({ tableName, node }: dynamodb.ITableV2): string {
  return Token.isUnresolved(tableName) ? node.path : tableName;
}

function defaults(props: ShardedTableProps): Partial<ShardedTableProps> {
  return {
    ...recoveryUnlessChosen(props),
    ...(props.contributorInsights === undefined && { contributorInsightsSpecification: THROTTLED_KEYS }),
  };
}

/** How a table of counts is kept: as the table whose indexes it is for. */
type KeepOptions = Pick<dynamodb.TablePropsV2, 'encryption' | 'removalPolicy' | 'deletionProtection'>;

/** Adds the table that holds how far the values of the adaptive indexes of a table have grown. */
function addShardCountTable(scope: Construct, keep: KeepOptions): dynamodb.TableV2 {
  const table = new dynamodb.TableV2(
    scope,
    'ShardCounts',
    withDefaults<dynamodb.TablePropsV2>(
      scope,
      dynamodb.TableV2.PROPERTY_INJECTION_ID,
      {
        partitionKey: { name: COUNT_TABLE_INDEX, type: dynamodb.AttributeType.STRING },
        sortKey: { name: COUNT_TABLE_VALUE, type: dynamodb.AttributeType.STRING },
        // Only reports of throttled writes have it.
        timeToLiveAttribute: COUNT_TABLE_EXPIRY,
        ...keep,
      },
      recoveryUnlessChosen,
    ),
  );
  if (keep.deletionProtection === undefined) protectWhileRetained(table);
  return table;
}

/**
 * Has CloudWatch name keys of one index in the region of the table. TableV2 gives all indexes what the table has, and takes
 * another choice for replicas alone.
 */
function specifyInsights(
  table: dynamodb.CfnGlobalTable,
  indexName: string,
  { enabled, mode }: dynamodb.ContributorInsightsSpecification,
): void {
  const stack = Stack.of(table);
  const { replicas } = table;
  table.replicas = Lazy.any({
    produce: () => {
      const resolved: dynamodb.CfnGlobalTable.ReplicaSpecificationProperty[] = stack.resolve(replicas);
      const own = JSON.stringify(stack.resolve(stack.region));
      return resolved.map((replica) => (JSON.stringify(replica.region) === own ? withInsights(replica) : replica));
    },
  });

  function withInsights(replica: dynamodb.CfnGlobalTable.ReplicaSpecificationProperty) {
    const indexes =
      replica.globalSecondaryIndexes as dynamodb.CfnGlobalTable.ReplicaGlobalSecondaryIndexSpecificationProperty[];
    const globalSecondaryIndexes = indexes.map((index) =>
      index.indexName === indexName ? { ...index, contributorInsightsSpecification: { enabled, mode } } : index,
    );
    return { ...replica, globalSecondaryIndexes };
  }
}
