import { plainDecimal } from '../foundation/decimal';
import { checkShardCount, MAX_INDEX_SHARDS } from '../foundation/shard-count';
import { InvalidIndexConfigError } from './sharded-index-errors';

/** How many shards writers spread new items over, and how many readers ask. */
export interface ShardCount {
  write: number;
  /** At least `write`: readers must cover every shard that still holds an item. More while a count changes. */
  read: number;
}

/** The shard counts of an index: those of single values, and the default for all others or for the whole table. */
export interface IndexShards {
  default: ShardCount;
  byValue?: Record<string, ShardCount>;
}

/**
 * Everything an application or a function must know about a sharded index to write to it and to query it.
 * Plain JSON: the constructs emit it, and Lambdas and applications read it.
 */
export interface ShardedIndexConfig {
  tableName: string;
  indexName: string;
  /** Attribute names of the base table's key: partition key, then the sort key if the table has one. */
  tableKey: string[];
  /**
   * `multi-attribute`: the index is partitioned by [value, shard], the shard a number.
   * `single-attribute`: one partition key; with a value it holds the string "value#shard", without one the number.
   */
  keyLayout: 'multi-attribute' | 'single-attribute';
  /** The attribute the index is keyed by. Absent: the index covers the whole table. */
  valueAttribute?: string;
  /** The attribute that holds the shard, or "value#shard". Writers set it, with `shardAttributes`. */
  shardAttribute: string;
  /** `[]`, `[sort]` or `[sort, tie-breaker...]`: attribute names of the index's sort key. */
  sortKeyAttributes: string[];
  shards: IndexShards;
  /** `calculated`: the shard follows from the table key. `random`: it is drawn for each write. */
  strategy: 'random' | 'calculated';
}

/** Separates the value from the shard in a single-attribute key. The shard is what stands behind the last one. */
export const SHARD_SEPARATOR = '#';

/** The shard count of a value, or of the whole table when the index has no value. */
export function shardCountOf(config: ShardedIndexConfig, value: string | number | undefined): ShardCount {
  const { byValue } = config.shards;
  const key = String(value);
  return value !== undefined && byValue !== undefined && Object.hasOwn(byValue, key)
    ? byValue[key]!
    : config.shards.default;
}

/** What the index's shard attribute holds for one shard of a value. */
export function shardAttributeValue(
  config: ShardedIndexConfig,
  value: string | number | undefined,
  shard: number,
): string | number {
  const concatenated = config.keyLayout === 'single-attribute' && config.valueAttribute !== undefined;
  if (!concatenated) return shard;
  const text = typeof value === 'number' ? plainDecimal(String(value)) : value;
  return `${text}${SHARD_SEPARATOR}${shard}`;
}

/** Throws `InvalidIndexConfigError` or `InvalidShardCountError` unless the configuration can be worked with. */
export function checkShardedIndexConfig(config: ShardedIndexConfig): void {
  if (typeof config !== 'object' || config === null) {
    throw new InvalidIndexConfigError('config', config, 'a sharded index configuration, as ShardedIndex emits it');
  }
  for (const field of ['tableName', 'indexName', 'shardAttribute'] as const) {
    if (typeof config[field] !== 'string' || config[field] === '') {
      throw new InvalidIndexConfigError(`config.${field}`, config[field], 'a non-empty string');
    }
  }
  checkNames('config.tableKey', config.tableKey, 1, 2);
  checkNames('config.sortKeyAttributes', config.sortKeyAttributes, 0, 4);
  checkOneOf('config.keyLayout', config.keyLayout, ['multi-attribute', 'single-attribute']);
  checkOneOf('config.strategy', config.strategy, ['random', 'calculated']);
  if (config.keyLayout === 'single-attribute' && config.sortKeyAttributes.length > 1) {
    throw new InvalidIndexConfigError(
      'config.sortKeyAttributes',
      config.sortKeyAttributes,
      'one attribute at most in the single-attribute layout',
    );
  }
  if (
    config.valueAttribute !== undefined &&
    (typeof config.valueAttribute !== 'string' || config.valueAttribute === '')
  ) {
    throw new InvalidIndexConfigError('config.valueAttribute', config.valueAttribute, 'a non-empty string or absent');
  }
  checkIndexShards('config.shards', config.shards);
}

/** Throws `InvalidIndexConfigError` or `InvalidShardCountError` unless readers cover what writers write to. */
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
}

function checkNames(field: string, names: unknown, least: number, most: number): void {
  const valid =
    Array.isArray(names) &&
    names.length >= least &&
    names.length <= most &&
    names.every((name) => typeof name === 'string' && name !== '');
  if (!valid) throw new InvalidIndexConfigError(field, names, `an array of ${least} to ${most} attribute names`);
}

function checkOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw new InvalidIndexConfigError(field, value, `one of ${allowed.join(', ')}`);
}
