import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { ShardedIndexConfig } from '../core/write-sharding/sharded-index-config';
import { KeyLayout } from './key-layout';
import { ShardedIndex } from './sharded-index';
import { checkShardedIndex } from './sharded-index-checks';
import type { ShardedIndexProps } from './sharded-index-props';
import { ShardingStrategy } from './sharding-strategy';

/** Properties of a `ShardedTable`: those of `dynamodb.TableV2`, but point-in-time recovery is on by default. */
export interface ShardedTableProps extends dynamodb.TablePropsV2 {}

/**
 * A DynamoDB table whose indexes can be sharded: a global secondary index keyed by a status or by time alone is one hot
 * partition, and its back-pressure throttles the writes to the table itself.
 *
 * Use it in place of `dynamodb.TableV2`, of which it has every method. It is billed on demand, retained when it leaves
 * the stack and can be restored to a point in time, unless its properties say otherwise.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-gsi-sharding.html
 *
 * @stateful
 */
export class ShardedTable extends dynamodb.TableV2 {
  private readonly tableKey: string[];
  private readonly shardedIndexes: ShardedIndexConfig[] = [];

  constructor(scope: Construct, id: string, props: ShardedTableProps) {
    super(scope, id, {
      ...props,
      pointInTimeRecoverySpecification:
        props.pointInTimeRecoverySpecification ??
        (props.pointInTimeRecovery === undefined ? { pointInTimeRecoveryEnabled: true } : undefined),
    });
    this.tableKey = [props.partitionKey, props.sortKey].flatMap((attribute) => attribute?.name ?? []);
  }

  /**
   * Adds a global secondary index that spreads each of its values over several shards.
   *
   * DynamoDB adds one index to an existing table at a time, so add further ones in further deployments. Its key cannot
   * change under the same name; its shard counts can.
   *
   * Throws `InvalidIndexConfigError` if the properties contradict each other, the table or its other sharded indexes,
   * and `InvalidIndexValueError` if shards are counted by a value that the value attribute cannot have.
   *
   * @param props what to shard, by how much and in which order
   */
  public addShardedIndex(props: ShardedIndexProps): ShardedIndex {
    const sortKeys = [...(props.sortKey ? [props.sortKey] : []), ...(props.tieBreakers ?? [])];
    const config: ShardedIndexConfig = {
      tableName: this.tableName,
      indexName: props.indexName,
      tableKey: this.tableKey,
      keyLayout: `${props.keyLayout ?? KeyLayout.MULTI_ATTRIBUTE}` as const,
      valueAttribute: props.value?.name,
      shardAttribute: props.shardAttribute ?? `${props.indexName}Shard`,
      sortKeyAttributes: sortKeys.map(({ name }) => name),
      shards: props.shards._config,
      strategy: `${props.strategy ?? ShardingStrategy.CALCULATED}` as const,
    };
    checkShardedIndex(this, props, config, this.shardedIndexes);
    this.addGlobalSecondaryIndex({
      indexName: props.indexName,
      partitionKeys: partitionKeys(config, props.value),
      sortKeys,
      projectionType: props.projectionType,
      nonKeyAttributes: props.nonKeyAttributes,
    });
    this.shardedIndexes.push(config);
    return ShardedIndex._of(this, config);
  }
}

function partitionKeys({ keyLayout, shardAttribute: name }: ShardedIndexConfig, value?: dynamodb.Attribute) {
  if (value === undefined) return [{ name, type: dynamodb.AttributeType.NUMBER }];
  return keyLayout === 'single-attribute'
    ? [{ name, type: dynamodb.AttributeType.STRING }]
    : [value, { name, type: dynamodb.AttributeType.NUMBER }];
}
