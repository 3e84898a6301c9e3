import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { KeyLayout } from './key-layout';
import type { ShardCounts } from './shard-counts';
import type { ShardingStrategy } from './sharding-strategy';

/** What a sharded index is, whether it is added to a table or imported with one. */
export interface BaseShardedIndexOptions {
  /** The name of the index: 3 to 255 characters of a-z, A-Z, 0-9, underscore, hyphen and dot. */
  readonly indexName: string;

  /**
   * The attribute to query by, a string or a number, of which a few values hold most of the items: a status, a type, a
   * tenant. Items without it are not part of the index.
   *
   * @default - the index covers the whole table: every item that has a shard attribute
   */
  readonly valueAttribute?: dynamodb.Attribute;

  /**
   * The attribute that queries are ordered by and can be narrowed by, typically a time.
   *
   * @default - unordered
   */
  readonly sortKey?: dynamodb.Attribute;

  /**
   * Further attributes of the sort key, at most three, that order items whose sort key is equal. In the
   * multi-attribute layout only.
   *
   * @default - none
   */
  readonly tieBreakers?: dynamodb.Attribute[];

  /** How many shards each value, or the whole table, is spread over. */
  readonly shardCounts: ShardCounts;

  /**
   * The attribute that holds the shard: a number, or in the single-attribute layout the string "value#shard". Writers
   * set it, so it is no attribute of another key. Two indexes may share it if they have the same value attribute, layout,
   * shard counts and strategy.
   *
   * @default - the name of the index followed by "Shard", such as `byStatusShard`
   */
  readonly shardAttribute?: string;

  /**
   * How the index's key holds the value and the shard.
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
