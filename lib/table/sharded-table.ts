import { CfnResource, Lazy, Reference, Stack, Token, Tokenization } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { withoutDefaultChild } from '../cloudformation/template';
import { withDefaults, withoutUndefined } from '../construct/blueprint';
import { protectWhileRetained, recoveryUnlessChosen } from '../construct/kept-table';
import { constructField } from '../construct/props';
import { COUNT_TABLE_EXPIRY, COUNT_TABLE_INDEX, COUNT_TABLE_VALUE } from '../core/adaptive-counts/shard-count-table';
import { guardDeployment } from '../deployment-check/deployment-guard';
import { type DescribedIndex, describeIndexes } from '../deployment-check/sharding-metadata';
import { adviseOnIndexShards } from './index/index-advice';
import { ShardedIndex } from './index/sharded-index';
import type { ShardedIndexOptions } from './index/sharded-index-options';
import { shardedIndexSettings } from './index/sharded-index-settings';
import { checkProjected, withCheckedNames } from './table-names';

/**
 * Properties of a `ShardedTable`: the properties of `dynamodb.TableV2`. Two of these properties have defaults that the
 * inherited documentation does not mention:
 *
 * - `pointInTimeRecoverySpecification`: `{ pointInTimeRecoveryEnabled: true }`
 * - `contributorInsightsSpecification`: `{ enabled: true, mode: THROTTLED_KEYS }`. Contributor Insights then show
 *   throttled keys, and AWS charges for each counted event. Contributor Insights do not show the keys of writes that
 *   are throttled because of an index
 */
export interface ShardedTableProps extends dynamodb.TablePropsV2 {}

const THROTTLED_KEYS: dynamodb.ContributorInsightsSpecification = {
  enabled: true,
  mode: dynamodb.ContributorInsightsMode.THROTTLED_KEYS,
};

/**
 * A DynamoDB table whose indexes can be sharded. A global secondary index that is keyed by a status or by time alone has one hot
 * partition, and DynamoDB then also throttles the writes to the table.
 *
 * Use it in place of `dynamodb.TableV2`. It has all methods of `TableV2`. By default, the table:
 *
 * - is billed on demand
 * - is retained when it is removed from the stack
 * - can be restored to a point in time
 * - has Contributor Insights for throttled keys
 *
 * Contributor Insights do not count writes that are throttled because of an index. To see the most accessed keys of an index, use
 * the mode `ACCESSED_AND_THROTTLED_KEYS`.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-gsi-sharding.html
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
   * Creates a table. Add sharded indexes with `addShardedIndex`.
   *
   * @param scope the construct to add the table to, usually `this`
   * @param id the table's name within the scope
   * @param props the properties of `dynamodb.TableV2`
   * @throws an error with the code `INVALID_ARGUMENT` if DynamoDB rejects the name of the table, an index or an attribute
   */
  constructor(scope: Construct, id: string, props: ShardedTableProps) {
    const named = withCheckedNames(scope, id, props);
    super(scope, id, withDefaults(scope, dynamodb.TableV2.PROPERTY_INJECTION_ID, named, defaults));
    this.tableKey = [props.partitionKey, props.sortKey].flatMap((attribute) => attribute?.name ?? []);
    const { encryption, removalPolicy, deletionProtection } = props;
    this.keep = { encryption, removalPolicy, deletionProtection };
    guardDeployment(this);
  }

  /**
   * Adds a global secondary index that spreads each value over several shards.
   *
   * DynamoDB adds only one index to an existing table in a deployment, so add each further index in a further deployment. You can
   * change the shard counts of the index, but not its key.
   *
   * The first index with `ShardCounts.adaptive` adds a table of counts. That table has the encryption, removal policy and
   * deletion protection of this table, and can be restored to a point in time.
   *
   * @param props the key, the shard counts and the projection of the index
   * @throws an error with the code `INVALID_INDEX_CONFIG` if the properties contradict each other, the table or its other
   *   indexes. `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have.
   *   `INVALID_SHARD_COUNT` if a caller without a type checker leaves out `shardCounts`
   */
  public addShardedIndex(props: ShardedIndexOptions): ShardedIndex {
    const settings = shardedIndexSettings(
      {
        table: this,
        tableKey: this.tableKey,
        shardedIndexes: this.shardedIndexes.map((index) => index.config),
        keyAttributes: this.keyAttributes(),
        shardCountTable: () => this.shardCountTableOfIndexes(),
        writers: { functions: new Set(), readers: new Set(), hasOthers: false },
      },
      props,
    );
    const { config, shardCountTable } = settings;
    checkProjected(constructField(this, `${config.indexName}.nonKeyAttributes`), props.nonKeyAttributes);
    if (props.expectedTraffic) adviseOnIndexShards(this, config, props.expectedTraffic);
    this.addGlobalSecondaryIndex(
      withoutUndefined({
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

  private shardCountTableOfIndexes(): dynamodb.TableV2 {
    this.shardCountTable ??= addShardCountTable(this, this.keep);
    return this.shardCountTable;
  }

  /**
   * The key attributes of the table and its present indexes. Reads them from the resource, because TableV2 does not expose its
   * indexes.
   */
  private keyAttributes(): string[] {
    const { attributeDefinitions } = this.node.defaultChild as dynamodb.CfnGlobalTable;
    const definitions: dynamodb.CfnGlobalTable.AttributeDefinitionProperty[] = this.stack.resolve(attributeDefinitions);
    return definitions.map(({ attributeName }) => attributeName);
  }
}

/**
 * An identity of a table that is the same in every synthesis: its name, or the construct path of the table to which the name
 * refers. A reference itself would be a dependency on the stack of the table. Any other intrinsic function is in the
 * identity as JSON.
 */
function identityOf({ tableName, stack }: dynamodb.ITableV2): string {
  if (!Token.isUnresolved(tableName)) return tableName;
  const { firstToken: token, length } = Tokenization.reverseString(tableName);
  if (length === 1 && Reference.isReference(token) && CfnResource.isCfnResource(token.target))
    return withoutDefaultChild(token.target.node.path);
  return JSON.stringify(stack.resolve(tableName));
}

function defaults(props: ShardedTableProps): Partial<ShardedTableProps> {
  return {
    ...recoveryUnlessChosen(props),
    ...(props.contributorInsights === undefined && { contributorInsightsSpecification: THROTTLED_KEYS }),
  };
}

/** The options that a table of counts takes from the sharded table. */
type KeepOptions = Pick<dynamodb.TablePropsV2, 'encryption' | 'removalPolicy' | 'deletionProtection'>;

/** Adds the table that holds the increased counts of the adaptive indexes of a table. */
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
        // Only reports of throttled writes have this attribute.
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
 * Sets Contributor Insights of one index in the region of the table. TableV2 uses the setting of the table for all indexes in
 * this region, and allows another setting only for replicas.
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
