import { countOfValue } from '../../sharding/count-of-value';
import type { ShardFormat } from '../../sharding/shard-format';

/** How many shards writers spread new items over, and how many shards readers ask. */
export interface ShardCount {
  /** The number of shards that writers use, from 1 to 10,000. */
  write: number;
  /**
   * The number of shards that readers ask, from `write` to 10,000. Readers must cover every shard that still holds an
   * item, so it is greater than `write` while a count changes.
   */
  read: number;
  /**
   * Of a table that is sharded by its own key: the smallest number of shards that a writer has used for an item that is
   * still there, from 1 to `write`. Items keep their key, so those of earlier counts stay where they are.
   * @default `write`: the count has not grown, or every item has moved
   */
  since?: number;
}

/** The shard counts of an index. */
export interface IndexShards {
  /** The counts of the whole table, or of every value that `byValue` does not name. */
  default: ShardCount;
  /**
   * The counts of single values. The name of a number is what JavaScript writes for it, such as "7" or "1e+21", or its digits.
   * @default every value has the default counts
   */
  byValue?: Record<string, ShardCount>;
}

/** Counts that grow while applications run. */
export interface AdaptiveCounts {
  /** The table that holds the counts of the values that have grown. */
  tableName: string;
  /** The most shards that a value may grow to, from 1 to 10,000. It is used only where a count is raised. */
  maximum: number;
}

/** What the configurations of sharded indexes and of tables that are sharded by their own key have in common. */
interface ShardedKeyConfig extends ShardFormat {
  /**
   * The version of this contract. Readers and writers refuse a version that they do not know. Absent: 1. An index with adaptive
   * counts has 2, because a reader that knew nothing of them would overlook items.
   */
  version?: 1 | 2;
  /** The name of the table. */
  tableName: string;
  /** The attribute names of the base table's key: the partition key, then the sort key if the table has one. */
  tableKey: string[];
  /** The attribute that holds the shard, or the value and the shard. Writers set it with `shardAttributes`. */
  shardAttribute: string;
  /** The attribute names of the sort key: `[]`, `[sort]` or `[sort, tie-breaker...]`. */
  sortKeyAttributes: string[];
  /** How many shards each value has. */
  shards: IndexShards;
  /** `calculated`: attributes of the item decide the shard. `random`: each write draws a shard. */
  strategy: 'random' | 'calculated';
}

/**
 * What an application or a function must know about a sharded index to write to it and to query it. It is plain JSON:
 * the construct `ShardedIndex` emits it, and Lambda functions and applications read it.
 *
 * A configuration is checked at its first use, and frozen: a field that is not known is refused, and so is a later change of
 * the object. To use other counts, make another object.
 */
export interface ShardedIndexConfig extends ShardedKeyConfig {
  /** The name of the index. */
  indexName: string;
  /**
   * `multi-attribute`: the partition key of the index is [value, shard], and the shard is a number. `single-attribute`:
   * the partition key of the index is one attribute. It holds the string "value#shard", or the number of the shard if
   * the index has no value.
   */
  keyLayout: 'multi-attribute' | 'single-attribute';
  /** The attribute that the index is keyed by. Absent: the index covers the whole table. */
  valueAttribute?: string;
  /**
   * Where the counts are that values have grown to. Readers and writers use those or the counts of `shards`, whichever are
   * larger: `AdaptiveIndex` of `cdk-even-shards/adaptive-counts` reads them.
   * @default the counts are fixed
   */
  adaptive?: AdaptiveCounts;
  /**
   * Whether items without the sort key may be missing from the index. DynamoDB leaves such items out of an index without an error. With
   * `true`, writers accept them, and `findStrays` does not count them.
   * @default false: `shardAttributes` and `shardPut` reject an item that has the value but not the sort key
   */
  sparse?: boolean;
  /**
   * The longest timeout of a writer, in seconds, from 1 to 86,400. `decreaseShardCount` waits for it.
   * @default 5,400, the longest invocation of a Lambda function
   */
  longestWriteSeconds?: number;
}

/**
 * What an application or a function must know about a table that is sharded by its own key. The partition key of an item
 * is its value, a separator and its shard, such as `121212-3`. It is plain JSON: the construct `KeyShardedTable` emits
 * it, and Lambda functions and applications read it.
 */
export interface ShardedTableConfig extends ShardedKeyConfig {
  /** Absent: that tells the configuration of a table from that of an index. */
  indexName?: undefined;
  /** The value and the shard are in one attribute, because the key of a table has no room for more. */
  keyLayout: 'single-attribute';
  /**
   * The attribute of an item that holds its value. It may be the partition key itself: then writers give an item with the
   * value there, and `shardAttributes` puts the value with its shard in its place.
   */
  valueAttribute: string;
  /** The attributes that decide the calculated shard of an item, 1 to 4. `random`: none. */
  shardedBy: string[];
  /** What stands between the value and the shard. Values must not contain it. It holds no digit. */
  separator: string;
  /** The number of the first shard, at least 0. The others follow. */
  firstShard: number;
}

/** A sharded index, or a table that is sharded by its own key. */
export type ShardedConfig = ShardedIndexConfig | ShardedTableConfig;

/** Knows the configuration of the moment of an index whose counts change. `AdaptiveIndex` is one. */
export interface ShardedConfigSource {
  /** The configuration with the counts that no value is below. */
  readonly initial: ShardedIndexConfig;
  /**
   * A configuration by which a page that begins now finds every item.
   *
   * @param withinMs for how long the page can wait for it, in milliseconds; absent for a page without a deadline
   * @param values the values that the page asks for. Absent: every value may be asked for, or the index has none
   */
  forReading(withinMs?: number, values?: readonly (string | number)[]): Promise<ShardedIndexConfig>;
}

/** Whether this is a source of configurations, and not a configuration. */
export function isConfigSource(config: ShardedConfig | ShardedConfigSource): config is ShardedConfigSource {
  return typeof (config as Partial<ShardedConfigSource> | null)?.forReading === 'function';
}

/** The shard count of a value, or of the whole table if the index has no value. */
export function shardCountOf(config: ShardedConfig, value: string | number | undefined): ShardCount {
  return countOfValue(config.shards, value);
}

/** A name that tells an index or a table from those of all other tables. */
export function storePath({ tableName, indexName }: ShardedConfig): string {
  return indexName === undefined ? tableName : `${tableName}/index/${indexName}`;
}

/** The name of an index or a table in messages. */
export function storeName({ tableName, indexName }: ShardedConfig): string {
  return indexName === undefined ? `table ${tableName}` : `index ${indexName}`;
}

export function isTableConfig(config: ShardedConfig): config is ShardedTableConfig {
  return config.indexName === undefined;
}
