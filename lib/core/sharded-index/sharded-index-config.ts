import { plainDecimal } from '../foundation/decimal';
import { checkShardCount, MAX_INDEX_SHARDS } from '../foundation/shard-count';
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
}

/** The shard counts of an index. */
export interface IndexShards {
  /** The counts of the whole table, or of every value that `byValue` does not name. */
  default: ShardCount;
  /**
   * The counts of single values.
   * @default every value has the default counts
   */
  byValue?: Record<string, ShardCount>;
}

/**
 * What an application or a function must know about a sharded index to write to it and to query it. It is plain JSON:
 * the construct `ShardedIndex` emits it, and Lambda functions and applications read it.
 */
export interface ShardedIndexConfig {
  /** The version of this contract. Readers and writers refuse a version that they do not know. Absent: 1, the only one. */
  version?: 1;
  /** The name of the base table. */
  tableName: string;
  /** The name of the index. */
  indexName: string;
  /** The attribute names of the base table's key: the partition key, then the sort key if the table has one. */
  tableKey: string[];
  /**
   * `multi-attribute`: the partition key of the index is [value, shard], and the shard is a number. `single-attribute`:
   * the partition key of the index is one attribute. It holds the string "value#shard", or the number of the shard if
   * the index has no value.
   */
  keyLayout: 'multi-attribute' | 'single-attribute';
  /** The attribute that the index is keyed by. Absent: the index covers the whole table. */
  valueAttribute?: string;
  /** The attribute that holds the shard, or "value#shard". Writers set it with `shardAttributes`. */
  shardAttribute: string;
  /** The attribute names of the index's sort key: `[]`, `[sort]` or `[sort, tie-breaker...]`. */
  sortKeyAttributes: string[];
  /** How many shards the index has. */
  shards: IndexShards;
  /** `calculated`: the table key decides the shard. `random`: each write draws a shard. */
  strategy: 'random' | 'calculated';
}

/** Separates the value from the shard in a single-attribute key. The shard follows the last separator. */
export const SHARD_SEPARATOR = '#';

/** The shard count of a value, or of the whole table if the index has no value. */
export function shardCountOf(config: ShardedIndexConfig, value: string | number | undefined): ShardCount {
  const { byValue } = config.shards;
  const key = String(value);
  return value !== undefined && byValue !== undefined && Object.hasOwn(byValue, key)
    ? byValue[key]!
    : config.shards.default;
}

/** The name of an index among those of all tables. */
export function indexPath({ tableName, indexName }: ShardedIndexConfig): string {
  return `${tableName}/index/${indexName}`;
}

/** The content of the index's shard attribute for one shard of a value. */
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

/** Throws `InvalidIndexConfigError` or `InvalidShardCountError` if the configuration is invalid. */
export function checkShardedIndexConfig(config: ShardedIndexConfig): void {
  if (typeof config !== 'object' || config === null) {
    throw new InvalidIndexConfigError('config', config, 'a sharded index configuration, as ShardedIndex emits it');
  }
  if (config.version !== undefined && config.version !== 1) {
    throw new InvalidIndexConfigError('config.version', config.version, '1 or absent, update this package to use it');
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
      'an array of at most one attribute name in the single-attribute layout',
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
