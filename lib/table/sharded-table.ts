import { Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { withDefaults } from '../construct/blueprint';
import { given } from '../construct/given';
import { recoveryUnlessChosen } from '../construct/point-in-time-recovery';
import type { ShardedIndexConfig } from '../core/sharded-index/config/sharded-index-config';
import { addShardCountTable, type KeepOptions } from './adaptive/shard-count-table';
import { warnOfIndexChange } from './deployed/deployed-sharding';
import { type DescribedIndex, describeIndexes } from './deployed/index-metadata';
import { adviseOnIndexShards } from './index/index-advice';
import { indexConfig } from './index/index-config';
import { specifyInsights } from './index/index-insights';
import { ShardedIndex } from './index/sharded-index';
import { checkShardedIndex } from './index/sharded-index-checks';
import type { ShardedIndexOptions } from './index/sharded-index-options';

/**
 * Properties of a `ShardedTable`: those of `dynamodb.TableV2`. Two defaults differ, and the documentation that is inherited
 * with the properties does not say so:
 *
 * - `pointInTimeRecoverySpecification`: `{ pointInTimeRecoveryEnabled: true }`, where `TableV2` has none
 * - `contributorInsightsSpecification`: `{ enabled: true, mode: THROTTLED_KEYS }`, which names keys that are throttled, but
 *   not those of writes that an index refuses, and costs by what it counts, where `TableV2` has none
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
 * that are refused because of an index: the mode `ACCESSED_AND_THROTTLED_KEYS` names the busiest keys of an index.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-gsi-sharding.html
 *
 * @stateful
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
  }

  /**
   * Adds a global secondary index that spreads each of its values over several shards.
   *
   * DynamoDB adds one index to an existing table at a time, so add further ones in further deployments. Its key cannot
   * change under the same name; its shard counts can. The first index with `ShardCounts.adaptive` adds a table of counts,
   * which is encrypted, retained and protected as this table is, and can be restored to a point in time.
   *
   * Throws an error with the code `INVALID_INDEX_CONFIG` if the properties contradict each other, the table or its
   * other indexes, and `INVALID_INDEX_VALUE` if `shardCounts` names a value that the value attribute cannot have.
   *
   * @param props what to shard, by how much and in which order
   */
  public addShardedIndex(props: ShardedIndexOptions): ShardedIndex {
    const countTable = this.countTableFor(props);
    const config = indexConfig(this.tableName, this.tableKey, props, countTable?.tableName);
    checkShardedIndex(this, props, config, {
      shardedIndexes: this.shardedIndexes.map((index) => index.config),
      keyAttributes: this.keyAttributes(),
    });
    if (props.expectedTraffic) adviseOnIndexShards(this, config, props.expectedTraffic);
    this.addGlobalSecondaryIndex(
      given({
        indexName: props.indexName,
        partitionKeys: partitionKeys(config, props.valueAttribute),
        sortKeys: [...(props.sortKey ? [props.sortKey] : []), ...(props.tieBreakers ?? [])],
        projectionType: props.projectionType,
        nonKeyAttributes: props.nonKeyAttributes && [...props.nonKeyAttributes].sort(),
        readCapacity: props.readCapacity,
        writeCapacity: props.writeCapacity,
        maxReadRequestUnits: props.maxReadRequestUnits,
        maxWriteRequestUnits: props.maxWriteRequestUnits,
        warmThroughput: props.warmThroughput,
      }),
    );
    const described = { config, ...(countTable && { countTable: identityOf(countTable) }) };
    this.shardedIndexes.push(described);
    const resource = this.node.defaultChild as dynamodb.CfnGlobalTable;
    describeIndexes(resource, this.shardedIndexes);
    const { contributorInsightsSpecification: insights } = props;
    if (insights !== undefined) specifyInsights(resource, props.indexName, insights);
    warnOfIndexChange(this, described);
    return ShardedIndex._of(this, config, countTable);
  }

  private countTableFor({ shardCounts, shardCountTable }: ShardedIndexOptions): dynamodb.ITableV2 | undefined {
    if (shardCounts._maximum === undefined || shardCountTable !== undefined) return shardCountTable;
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

function partitionKeys({ keyLayout, shardAttribute: name }: ShardedIndexConfig, value?: dynamodb.Attribute) {
  if (value === undefined) return [{ name, type: dynamodb.AttributeType.NUMBER }];
  return keyLayout === 'single-attribute'
    ? [{ name, type: dynamodb.AttributeType.STRING }]
    : [value, { name, type: dynamodb.AttributeType.NUMBER }];
}

function defaults(props: ShardedTableProps): Partial<ShardedTableProps> {
  return {
    ...recoveryUnlessChosen(props),
    ...(props.contributorInsights === undefined && { contributorInsightsSpecification: THROTTLED_KEYS }),
  };
}
