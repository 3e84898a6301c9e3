import { countOfValue, valueText } from '../../foundation/count-of-value';
import { checkShardCount, MAX_INDEX_SHARDS } from '../../foundation/shard-count';
import { InvalidIndexConfigError } from './sharded-index-errors';

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
  /** The most shards that a value may grow to, from 1 to 10,000. Only who raises a count uses it. */
  maximum: number;
}

/** What the configurations of sharded indexes and of tables that are sharded by their own key have in common. */
interface ShardedKeyConfig {
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
   */
  forReading(withinMs?: number): Promise<ShardedIndexConfig>;
}

/** Separates the value from the shard in a single-attribute key. The shard follows the last separator. */
export const SHARD_SEPARATOR = '#';

/** Tells a source of configurations from a configuration. */
export function isConfigSource(config: ShardedConfig | ShardedConfigSource): config is ShardedConfigSource {
  return typeof (config as Partial<ShardedConfigSource> | null)?.forReading === 'function';
}

/** The shard count of a value, or of the whole table if the index has no value. */
export function shardCountOf(config: ShardedConfig, value: string | number | undefined): ShardCount {
  return countOfValue(config.shards, value);
}

/** The name of an index or a table among those of all tables. */
export function storePath({ tableName, indexName }: ShardedConfig): string {
  return indexName === undefined ? tableName : `${tableName}/index/${indexName}`;
}

/** What messages call an index or a table. */
export function storeName({ tableName, indexName }: ShardedConfig): string {
  return indexName === undefined ? `table ${tableName}` : `index ${indexName}`;
}

export function isTableConfig(config: ShardedConfig): config is ShardedTableConfig {
  return config.indexName === undefined;
}

/** The content of the shard attribute for one shard of a value. */
export function shardAttributeValue(
  config: ShardedConfig,
  value: string | number | undefined,
  shard: number,
): string | number {
  const concatenated = config.keyLayout === 'single-attribute' && config.valueAttribute !== undefined;
  if (!concatenated) return shard;
  const text = valueText(value!);
  return isTableConfig(config)
    ? `${text}${config.separator}${config.firstShard + shard}`
    : `${text}${SHARD_SEPARATOR}${shard}`;
}

/** Throws `InvalidIndexConfigError` or `InvalidShardCountError` if the configuration is invalid. */
export function checkShardedConfig(config: ShardedConfig): void {
  if (isConfigSource(config) || typeof (config as { then?: unknown } | null)?.then === 'function') {
    const given = isConfigSource(config) ? 'an AdaptiveIndex' : 'a Promise';
    throw new InvalidIndexConfigError('config', given, 'a configuration: await forWriting() of an AdaptiveIndex');
  }
  if (typeof config !== 'object' || config === null) {
    throw new InvalidIndexConfigError('config', config, 'a configuration as ShardedIndex or KeyShardedTable emits it');
  }
  if (config.version !== undefined && config.version !== 1) {
    throw new InvalidIndexConfigError('config.version', config.version, '1 or absent; 2 needs an AdaptiveIndex');
  }
  checkName('config.tableName', config.tableName);
  checkName('config.shardAttribute', config.shardAttribute);
  checkNames('config.tableKey', config.tableKey, 1, 2);
  checkNames('config.sortKeyAttributes', config.sortKeyAttributes, 0, 4);
  checkOneOf('config.keyLayout', config.keyLayout, ['multi-attribute', 'single-attribute']);
  checkOneOf('config.strategy', config.strategy, ['random', 'calculated']);
  if (config.valueAttribute !== undefined) checkName('config.valueAttribute', config.valueAttribute);
  if (isTableConfig(config)) checkTableKey(config);
  else checkIndex(config);
  checkIndexShards('config.shards', config.shards);
}

function checkIndex({ indexName, keyLayout, sortKeyAttributes, shards }: ShardedIndexConfig): void {
  checkName('config.indexName', indexName);
  if (keyLayout === 'single-attribute' && sortKeyAttributes.length > 1) {
    const allowed = 'an array of at most one attribute name in the single-attribute layout';
    throw new InvalidIndexConfigError('config.sortKeyAttributes', sortKeyAttributes, allowed);
  }
  const counts = [shards?.default, ...Object.values(shards?.byValue ?? {})];
  const since = counts.find((count) => count?.since !== undefined)?.since;
  if (since !== undefined) {
    throw new InvalidIndexConfigError('config.shards', since, 'counts without since: an index moves items by itself');
  }
}

/** The most attributes that decide a calculated shard. */
const MAX_SHARDED_BY = 4;

/** Throws `InvalidIndexConfigError` unless a table can be sharded by its own key as its configuration says. */
export function checkTableKey(config: ShardedTableConfig): void {
  const { tableKey, keyLayout, valueAttribute, sortKeyAttributes, shardAttribute, strategy } = config;
  const refuseIf = (wrong: boolean, field: keyof ShardedTableConfig, allowed: string): void => {
    if (wrong) throw new InvalidIndexConfigError(`config.${field}`, config[field], allowed);
  };
  refuseIf(tableKey.length !== 2, 'tableKey', 'the partition key and the sort key: a shard without one holds one item');
  refuseIf(keyLayout !== 'single-attribute', 'keyLayout', 'single-attribute for a configuration without an indexName');
  refuseIf(valueAttribute === undefined, 'valueAttribute', 'the name of the attribute that holds the value');
  refuseIf(valueAttribute === tableKey[1], 'valueAttribute', 'another attribute than the sort key');
  refuseIf(shardAttribute !== tableKey[0], 'shardAttribute', `the partition key, ${tableKey[0]}`);
  const sorted = sortKeyAttributes.length === 1 && sortKeyAttributes[0] === tableKey[1];
  refuseIf(!sorted, 'sortKeyAttributes', `the sort key, ${tableKey[1]}`);
  checkNames('config.shardedBy', config.shardedBy, strategy === 'random' ? 0 : 1, MAX_SHARDED_BY);
  refuseIf(strategy === 'random' && config.shardedBy.length > 0, 'shardedBy', 'empty if the strategy is random');
  refuseIf(config.shardedBy.includes(shardAttribute), 'shardedBy', 'attributes other than the partition key');
  refuseIf(config.shardedBy.includes(valueAttribute), 'shardedBy', 'attributes that differ among the items of a value');
  refuseIf(
    typeof config.separator !== 'string' || config.separator === '' || /\d/.test(config.separator),
    'separator',
    'a text without digits that is not empty',
  );
  refuseIf(
    !Number.isSafeInteger(config.firstShard) || config.firstShard < 0,
    'firstShard',
    'a whole number of at least 0',
  );
}

/** Throws `InvalidIndexConfigError` or `InvalidShardCountError` unless readers ask every shard that writers use. */
export function checkIndexShards(field: string, shards: IndexShards): void {
  checkCounts(`${field}.default`, shards?.default);
  for (const [value, count] of Object.entries(shards.byValue ?? {})) {
    checkCounts(`${field}.byValue[${JSON.stringify(value)}]`, count);
  }
}

function checkCounts(field: string, count: ShardCount): void {
  checkShardCount(`${field}.write`, count?.write, MAX_INDEX_SHARDS);
  checkShardCount(`${field}.read`, count?.read, MAX_INDEX_SHARDS);
  if (count.read < count.write) {
    throw new InvalidIndexConfigError(`${field}.read`, count.read, `at least the write count, ${count.write}`);
  }
  if (count.since === undefined) return;
  checkShardCount(`${field}.since`, count.since, MAX_INDEX_SHARDS);
  if (count.since > count.write) {
    throw new InvalidIndexConfigError(`${field}.since`, count.since, `at most the write count, ${count.write}`);
  }
}

/** A table may be named by its ARN. Source: the DynamoDB API reference, TableName. */
const MAX_NAME = 1_024;

function checkName(field: string, name: unknown): void {
  if (typeof name !== 'string' || name === '') throw new InvalidIndexConfigError(field, name, 'a non-empty string');
  if (name.length > MAX_NAME) throw new InvalidIndexConfigError(field, name, `at most ${MAX_NAME} characters long`);
}

function checkNames(field: string, names: unknown, least: number, most: number): void {
  const valid =
    Array.isArray(names) &&
    names.length >= least &&
    names.length <= most &&
    names.every((name) => typeof name === 'string' && name !== '' && name.length <= MAX_NAME);
  if (!valid) throw new InvalidIndexConfigError(field, names, `an array of ${least} to ${most} attribute names`);
}

function checkOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw new InvalidIndexConfigError(field, value, `one of ${allowed.join(', ')}`);
}
