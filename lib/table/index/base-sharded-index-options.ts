import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { KeyLayout } from './key-layout';
import type { ShardCounts } from './shard-counts';
import type { ShardingStrategy } from './sharding-strategy';

/** What a sharded index is, whether it is added to a table or imported with one. */
export interface BaseShardedIndexOptions {
  /**
   * The name of the index: 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot.
   *
   * To change the key of an index, add an index with another name: DynamoDB does not change a key, so a deployment that
   * changes it under the same name fails. A deployment that changes the name replaces the index, which fails too where it
   * adds and deletes indexes at once: add the new one, and delete the old one in a later deployment.
   */
  readonly indexName: string;

  /**
   * The attribute to query by, a string or a number, of which a few values hold most of the items: a status, a type, a
   * tenant. Items without it are not part of the index.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails. In the single-attribute layout, it
   * succeeds, and queries miss every item until it is written again: change `indexName` and `shardAttribute`, too.
   *
   * @default - the index covers the whole table: every item that has a shard attribute
   */
  readonly valueAttribute?: dynamodb.Attribute;

  /**
   * The attribute that queries are ordered by and can be narrowed by, typically a time.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - unordered
   */
  readonly sortKey?: dynamodb.Attribute;

  /**
   * Further attributes of the sort key, at most three, that order items whose sort key is equal. In the
   * multi-attribute layout only.
   *
   * They are part of the key: a deployment that changes them under the same `indexName` fails.
   *
   * @default - none
   */
  readonly tieBreakers?: dynamodb.Attribute[];

  /**
   * How many shards each value, or the whole table, is spread over.
   *
   * A deployment can change them, and DynamoDB knows nothing of it: change them in steps, with `ShardCounts.alsoReading`,
   * or queries miss items. `cdk diff` shows the change in the metadata of the table, and synthesis warns of a step that is
   * skipped if the context `even-shards:deployedAssembly` names a folder with the template that was deployed.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The table that holds the counts of the values that have grown, with the partition key `index` and the sort key `value`,
   * both strings. Readers and writers overlook items if it is replaced by an empty one, of which synthesis warns as of `shardCounts`.
   *
   * @default - with `ShardCounts.adaptive`, one table that `ShardedTable` makes for all of its indexes; an imported index
   * must name it. None with fixed counts
   */
  readonly shardCountTable?: dynamodb.ITableV2;

  /**
   * The attribute that holds the shard: a number, or in the single-attribute layout the string "value#shard". Writers
   * set it, so it is no attribute of another key. Two indexes may share it if they have the same value attribute, layout,
   * shard counts and strategy.
   *
   * It is part of the key: a deployment that changes it under the same `indexName` fails.
   *
   * @default - the name of the index followed by "Shard", such as `byStatusShard`
   */
  readonly shardAttribute?: string;

  /**
   * How the index's key holds the value and the shard.
   *
   * A deployment that changes it under the same `indexName` fails, for DynamoDB does not change a key.
   *
   * @default KeyLayout.MULTI_ATTRIBUTE
   */
  readonly keyLayout?: KeyLayout;

  /**
   * How writers pick the shard of an item.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}
