import { isObject } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { checkConfigFormat } from '../kernel/format-version';
import {
  type AdaptiveCounts,
  InvalidIndexConfigError,
  InvalidIndexValueError,
  type ShardCount,
  type ShardedIndexConfig,
} from '../sharded-index';
import { countOfValue, valueText } from '../sharding/count-of-value';
import { ALLOWED_WRITE_SECONDS, isWriteSeconds } from '../sharding/longest-write';
import { checkIndexShardCount } from '../sharding/shard-count';
import type { ShardCountReader } from './shard-count-store';
import { MAX_COUNT_TABLE_VALUE_BYTES } from './shard-count-table';

/**
 * Checks and returns the adaptive counts of a configuration.
 *
 * @throws InvalidIndexConfigError or InvalidShardCountError if the configuration does not belong to an index with
 *   adaptive counts
 */
export function adaptiveCountsOf(config: ShardedIndexConfig): AdaptiveCounts {
  const adaptive = config?.adaptive;
  checkConfigFormat('index configuration', config?.version);
  if (typeof config?.indexName !== 'string') {
    const allowed = 'the name of an index (a table that is sharded by its own key cannot have adaptive counts)';
    throw new InvalidIndexConfigError('config.indexName', config?.indexName, allowed);
  }
  if (!isObject(adaptive)) {
    throw new InvalidIndexConfigError(
      'config.adaptive',
      adaptive,
      'the field that an index with adaptive counts emits',
    );
  }
  const unknown = Object.keys(adaptive).find((field) => field !== 'tableName' && field !== 'maximum');
  if (unknown !== undefined) {
    const allowed = 'made of tableName and maximum (update this package to read newer fields)';
    throw new InvalidIndexConfigError('config.adaptive', unknown, allowed);
  }
  for (const [field, name] of [
    ['config.tableName', config.tableName],
    ['config.adaptive.tableName', adaptive.tableName],
  ] as const) {
    if (typeof name !== 'string' || name === '') throw new InvalidIndexConfigError(field, name, 'a non-empty string');
  }
  checkIndexShardCount('config.adaptive.maximum', adaptive.maximum);
  const { shards, longestWriteSeconds } = config;
  if (longestWriteSeconds !== undefined && !isWriteSeconds(longestWriteSeconds)) {
    throw new InvalidIndexConfigError('config.longestWriteSeconds', longestWriteSeconds, ALLOWED_WRITE_SECONDS);
  }
  checkCounts('config.shards.default', shards?.default);
  for (const [value, count] of Object.entries(shards.byValue ?? {})) {
    checkCounts(`config.shards.byValue[${JSON.stringify(value)}]`, count);
  }
  return adaptive;
}

/** @throws InvalidArgumentError if the store does not read counts, or belongs to another index */
export function checkCountReader({ tableName, indexName }: ShardedIndexConfig, store: ShardCountReader): void {
  if (typeof Object(store).readCounts !== 'function') {
    throw new InvalidArgumentError('store', store, 'an object with readCounts, such as a DynamoDbShardCountReader');
  }
  const { countsOf } = store;
  if (countsOf === undefined || (countsOf.tableName === tableName && countsOf.indexName === indexName)) return;
  const allowed = `a reader of the counts of the index ${indexName} of the table ${tableName}`;
  throw new InvalidArgumentError('store', `a reader of ${countsOf.indexName} of ${countsOf.tableName}`, allowed);
}

function checkCounts(field: string, count: ShardCount): void {
  checkIndexShardCount(`${field}.write`, count?.write);
  checkIndexShardCount(`${field}.read`, count?.read);
}

/** Checks a value, and returns its text. Undefined if the index has no value attribute. */
export function valueName(config: ShardedIndexConfig, value: string | number | undefined): string | undefined {
  if (config.valueAttribute === undefined) {
    if (value === undefined) return undefined;
    throw new InvalidIndexValueError('value', value, 'absent because the index covers the whole table');
  }
  const isValue = (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value));
  if (!isValue) throw new InvalidIndexValueError('value', value, 'a non-empty string or a finite number');
  return valueText(value);
}

/** The maximum size of a value that can have its own counts, in bytes. */
const MAX_BYTES = MAX_COUNT_TABLE_VALUE_BYTES - 1;

/**
 * The text of a value, which is the key of its stored counts. Undefined if the index has no value attribute.
 *
 * @throws InvalidIndexValueError if the value is invalid, or too long to have its own counts
 */
export function countedValue(config: ShardedIndexConfig, value: string | number | undefined): string | undefined {
  const name = valueName(config, value);
  if (name !== undefined && Buffer.byteLength(name) > MAX_BYTES) {
    throw new InvalidIndexValueError('value', value, `at most ${MAX_BYTES} bytes long to have its own counts`);
  }
  return name;
}

/**
 * The texts of the values that can have their own counts, without repetitions.
 *
 * @throws InvalidIndexValueError if a value is invalid
 */
export function countedValues(config: ShardedIndexConfig, values: readonly (string | number)[]): string[] {
  const names = values.map((value) => valueName(config, value)!);
  return [...new Set(names)].filter((name) => Buffer.byteLength(name) <= MAX_BYTES);
}

/** The counts of a value in the configuration. Readers and writers never use smaller counts for the value. */
export function floorOf({ shards }: ShardedIndexConfig, value: string | undefined): ShardCount {
  return countOfValue(shards, value);
}
