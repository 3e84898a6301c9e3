import { isDeepStrictEqual } from 'node:util';
import { countOfValue } from '../../sharding/count-of-value';
import { type ShardFormat, shardFormatOf } from '../../sharding/shard-format';

/** The shard count of a value: how many shards writers use for new items, and how many shards readers query. */
export interface ShardCount {
  /** The number of shards that writers use, from 1 to 10,000. */
  write: number;
  /**
   * The number of shards that readers query, from `write` to 10,000. This number is greater than `write` while a count changes,
   * because readers must query every shard that still holds an item.
   */
  read: number;
  /**
   * The smallest of the write counts that decided the current places of items, from 1 to `write`. Only for a table that is
   * sharded by its own key. In such a table, an item stays in the shard of an earlier count until `reshardItems` moves the
   * item.
   * @default `write`: the count has not grown, or every item has moved
   */
  since?: number;
}

/** The shard counts of an index. */
export interface IndexShards {
  /** The counts of the whole table, or of every value that `byValue` does not name. */
  default: ShardCount;
  /**
   * The counts of single values. Each key is the text of a value. The key of a number is the number as JavaScript prints it,
   * such as "7" or "1e+21", or its digits.
   * @default every value has the default counts
   */
  byValue?: Record<string, ShardCount>;
}

/** The table of the adaptive counts of an index, and the maximum of a count. */
export interface AdaptiveCounts {
  /** The name of the table that contains the adaptive counts. */
  tableName: string;
  /** The maximum number of shards of a value, from 1 to 10,000. The maximum bounds only increases of a count. */
  maximum: number;
}

/** The common fields of the configurations of an index and of a table that is sharded by its own key. */
interface ShardedKeyConfig extends ShardFormat {
  /**
   * The version of this format. Readers and writers reject a version that they do not support. An index with adaptive counts
   * has version 2, because a reader that ignores the adaptive counts would miss items.
   * @default 1
   */
  version?: 1 | 2;
  /** The name of the table. */
  tableName: string;
  /** The attribute names of the base table's key: the partition key, then the sort key if the table has one. */
  tableKey: string[];
  /** The attribute that holds the shard, or the value and the shard. Writers set this attribute with `shardAttributes`. */
  shardAttribute: string;
  /** The attribute names of the sort key: `[]`, `[sort]` or `[sort, tie-breaker...]`. */
  sortKeyAttributes: string[];
  /** The shard counts. */
  shards: IndexShards;
  /** `calculated`: attributes of the item decide the shard. `random`: each write chooses a shard at random. */
  strategy: 'random' | 'calculated';
}

/**
 * The configuration of a sharded index. Applications and functions need the configuration to write to the index and to query
 * it. The configuration is plain JSON, which the construct `ShardedIndex` emits.
 *
 * The first use of a configuration checks and freezes it. An unknown field is rejected, and a frozen object cannot change. To
 * use other counts, create another object.
 */
export interface ShardedIndexConfig extends ShardedKeyConfig {
  /** The name of the index. */
  indexName: string;
  /**
   * `multi-attribute`: the partition key of the index has two attributes, the value and the shard number. `single-attribute`:
   * the partition key of the index is one attribute. This attribute holds the string "value#shard", or only the shard number if
   * the index has no value attribute.
   */
  keyLayout: 'multi-attribute' | 'single-attribute';
  /** The attribute that holds the value. Absent if items have no value, so that a query reads all items of the index. */
  valueAttribute?: string;
  /**
   * The table of the adaptive counts, which `AdaptiveIndex` of `cdk-even-shards/adaptive-counts` reads. The count of a value is
   * its adaptive count, or its count in `shards` if that is larger.
   * @default the counts are fixed
   */
  adaptive?: AdaptiveCounts;
  /**
   * Whether items without the sort key may be missing from the index. DynamoDB leaves such items out of an index
   * without an error. If `true`, writers accept such items, and `findStrays` does not report them as `noSortKey`.
   * @default false: `shardAttributes` and `shardPut` reject an item that has the value but not the sort key
   */
  sparse?: boolean;
  /**
   * The longest timeout of a writer, in seconds, from 1 to 86,400. `decreaseShardCount` waits for this time.
   * @default 5,400, the longest invocation of a Lambda function
   */
  longestWriteSeconds?: number;
}

/**
 * The configuration of a table that is sharded by its own key. The partition key of an item is its value, a separator and its
 * shard, such as `121212-3`. The configuration is plain JSON, which the construct `KeyShardedTable` emits. Applications and
 * functions read the configuration.
 */
export interface ShardedTableConfig extends ShardedKeyConfig {
  /** Always absent, because the configuration is for a table and not for an index. */
  indexName?: undefined;
  /** The partition key of a table is one attribute, so this attribute contains the value and the shard. */
  keyLayout: 'single-attribute';
  /**
   * The attribute of an item that holds its value. This attribute may be the partition key itself. Writers then set the
   * partition key to the value, and `shardAttributes` replaces the partition key by the value and the shard.
   */
  valueAttribute: string;
  /** The attributes that decide the calculated shard of an item, 1 to 4. Empty if the strategy is `random`. */
  shardedBy: string[];
  /**
   * The text between the value and the shard. The separator must not contain a digit, and values must not contain the
   * separator.
   */
  separator: string;
  /** The number of the first shard, at least 0. */
  firstShard: number;
}

/** A sharded index, or a table that is sharded by its own key. */
export type ShardedConfig = ShardedIndexConfig | ShardedTableConfig;

/** Provides the current configuration of an index with adaptive counts, as `AdaptiveIndex` does. */
export interface ShardedConfigSource {
  /** The configuration with the initial counts. The count of a value is never smaller than its initial count. */
  readonly initial: ShardedIndexConfig;
  /**
   * Returns the configuration for a page that begins now. With the counts of this configuration, a query reads every shard that
   * can have an item.
   *
   * @param withinMs how long the page can wait for the configuration, in milliseconds; absent for a page without a deadline
   * @param values the values that the page reads. Absent: the page may read every value, or the index has no value attribute
   */
  forReading(withinMs?: number, values?: readonly (string | number)[]): Promise<ShardedIndexConfig>;
}

/** Whether this is a source of configurations instead of a configuration. */
export function isConfigSource(config: ShardedConfig | ShardedConfigSource): config is ShardedConfigSource {
  return typeof (config as Partial<ShardedConfigSource> | null)?.forReading === 'function';
}

/** The shard count of a value, or of the whole table if the index has no value attribute. */
export function shardCountOf(config: ShardedConfig, value: string | number | undefined): ShardCount {
  return countOfValue(config.shards, value);
}

/** A name that identifies an index or a table among all tables. */
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

/**
 * Whether writers choose the same shard for an item in both indexes, so that the indexes can share a shard attribute. Compares
 * the fixed counts of each value.
 */
export function haveSameSharding(a: ShardedIndexConfig, b: ShardedIndexConfig): boolean {
  const values = [a, b].flatMap(({ shards }) => Object.keys(shards.byValue ?? {}));
  return (
    a.adaptive === undefined &&
    b.adaptive === undefined &&
    a.keyLayout === b.keyLayout &&
    a.valueAttribute === b.valueAttribute &&
    a.strategy === b.strategy &&
    isDeepStrictEqual(shardFormatOf(a), shardFormatOf(b)) &&
    [undefined, ...values].every((value) => {
      const [countsA, countsB] = [shardCountOf(a, value), shardCountOf(b, value)];
      return countsA.write === countsB.write && countsA.read === countsB.read;
    })
  );
}
