import { isObject, isText } from '../../kernel/checks';
import { checkConfigFormat } from '../../kernel/format-version';
import { ALLOWED_WRITE_SECONDS, isWriteSeconds } from '../../sharding/longest-write';
import { checkIndexShardCount, unknownShardsField } from '../../sharding/shard-count';
import { ALLOWED_SHARD_FORMAT, wrongPartOf } from '../../sharding/shard-format';
import {
  type IndexShards,
  isConfigSource,
  isTableConfig,
  type ShardCount,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
} from './sharded-index-config';
import { InvalidIndexConfigError } from './sharded-index-errors';
import { isBesideValue } from './stored-place';

/** The fields that every configuration has, and the further fields of an index and of a table. */
const FIELDS = [
  'version',
  'tableName',
  'indexName',
  'tableKey',
  'keyLayout',
  'valueAttribute',
  'shardAttribute',
  'sortKeyAttributes',
  'shards',
  'strategy',
  'firstShard',
  'separator',
  'shardWidth',
  'shardPlacement',
];
const INDEX_FIELDS = [...FIELDS, 'adaptive', 'sparse', 'longestWriteSeconds'];
const TABLE_FIELDS = [...FIELDS, 'shardedBy'];

/** The configurations that were checked. These configurations are frozen, so they cannot become invalid. */
const CHECKED = new WeakSet<object>();

/**
 * Checks a configuration at its first use, and freezes it. Later writes and queries then skip the check, because a
 * configuration can contain the counts of thousands of values.
 *
 * @throws InvalidIndexConfigError or InvalidShardCountError if the configuration is invalid
 */
export function checkShardedConfig(config: ShardedConfig): void {
  if (CHECKED.has(config)) return;
  checkFields(config);
  freeze(config);
}

function freeze(config: ShardedConfig): void {
  const { tableKey, sortKeyAttributes, shards } = config;
  const { shardedBy } = config as Partial<ShardedTableConfig>;
  for (const part of [tableKey, sortKeyAttributes, shardedBy, shards, shards.byValue]) Object.freeze(part);
  for (const count of countsOf(shards)) Object.freeze(count);
  CHECKED.add(Object.freeze(config));
}

function countsOf({ default: others, byValue }: IndexShards): ShardCount[] {
  return [others, ...Object.values(byValue ?? {})];
}

function checkFields(config: ShardedConfig): void {
  if (isConfigSource(config) || typeof (config as { then?: unknown } | null)?.then === 'function') {
    const given = isConfigSource(config) ? 'an AdaptiveIndex' : 'a Promise';
    throw new InvalidIndexConfigError('config', given, 'a configuration: await forWriting() of an AdaptiveIndex');
  }
  if (!isObject(config)) {
    throw new InvalidIndexConfigError('config', config, 'a configuration as ShardedIndex or KeyShardedTable emits it');
  }
  checkConfigFormat('index configuration', config.version);
  if (config.version !== undefined && config.version !== 1) {
    throw new InvalidIndexConfigError('config.version', config.version, '1 or absent; 2 needs an AdaptiveIndex');
  }
  const fields = isTableConfig(config) ? TABLE_FIELDS : INDEX_FIELDS;
  const unknown = Object.keys(config).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    throw new InvalidIndexConfigError(
      'config',
      unknown,
      `made of ${fields.join(', ')} (update this package to read newer fields)`,
    );
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

function checkIndex(config: ShardedIndexConfig): void {
  const { indexName, keyLayout, sortKeyAttributes, shards, sparse, longestWriteSeconds } = config;
  checkName('config.indexName', indexName);
  if (keyLayout === 'single-attribute' && sortKeyAttributes.length > 1) {
    const allowed = 'an array of at most one attribute name in the single-attribute layout';
    throw new InvalidIndexConfigError('config.sortKeyAttributes', sortKeyAttributes, allowed);
  }
  checkKeyAttributes(config);
  const since = countsOf(Object(shards)).find((count) => count?.since !== undefined)?.since;
  if (since !== undefined) {
    throw new InvalidIndexConfigError(
      'config.shards',
      since,
      'counts without since (only a table that is sharded by its own key has it)',
    );
  }
  if (sparse !== undefined && typeof sparse !== 'boolean') {
    throw new InvalidIndexConfigError('config.sparse', sparse, 'true, false or absent');
  }
  if (longestWriteSeconds !== undefined && !isWriteSeconds(longestWriteSeconds)) {
    throw new InvalidIndexConfigError('config.longestWriteSeconds', longestWriteSeconds, ALLOWED_WRITE_SECONDS);
  }
  checkShardNames(config);
}

/** An attribute with two roles would lose the value of one role: writers overwrite the shard attribute. */
function checkKeyAttributes({ tableKey, valueAttribute, shardAttribute, sortKeyAttributes }: ShardedIndexConfig): void {
  const ownKey = [valueAttribute, ...sortKeyAttributes].filter((name) => name !== undefined);
  if (new Set(ownKey).size < ownKey.length) {
    const allowed = 'attributes that differ from each other and from the value attribute';
    throw new InvalidIndexConfigError('config.sortKeyAttributes', sortKeyAttributes, allowed);
  }
  if ([...tableKey, ...ownKey].includes(shardAttribute)) {
    const allowed = 'an attribute that is not the value attribute, and not part of the table key or of the sort key';
    throw new InvalidIndexConfigError('config.shardAttribute', shardAttribute, allowed);
  }
}

/**
 * @param name the name of the configuration in messages
 * @throws InvalidIndexConfigError if the shard format is invalid, or is set for a layout without a shard format
 */
export function checkShardNames(config: ShardedConfig, name = 'config'): void {
  const rejectIf = (wrong: boolean, field: keyof ShardedConfig, allowed: string): void => {
    if (wrong) throw new InvalidIndexConfigError(`${name}.${field}`, config[field], allowed);
  };
  const wrong = wrongPartOf(config);
  if (wrong !== undefined) rejectIf(true, wrong, ALLOWED_SHARD_FORMAT[wrong]);
  if (isBesideValue(config)) return;
  for (const field of ['separator', 'shardWidth', 'shardPlacement'] as const) {
    rejectIf(config[field] !== undefined, field, 'absent because the shard is a number in an attribute of its own');
  }
}

/** A calculated shard depends on at most this number of attributes. */
const MAX_SHARDED_BY = 4;

/** @throws InvalidIndexConfigError if the configuration is not valid for a table that is sharded by its own key */
export function checkTableKey(config: ShardedTableConfig): void {
  const { tableKey, keyLayout, valueAttribute, sortKeyAttributes, shardAttribute, strategy } = config;
  const rejectIf = (wrong: boolean, field: keyof ShardedTableConfig, allowed: string): void => {
    if (wrong) throw new InvalidIndexConfigError(`config.${field}`, config[field], allowed);
  };
  rejectIf(
    tableKey.length !== 2,
    'tableKey',
    'the partition key and the sort key (without a sort key, a shard holds only one item)',
  );
  rejectIf(keyLayout !== 'single-attribute', 'keyLayout', 'single-attribute for a configuration without an indexName');
  rejectIf(!isText(valueAttribute), 'valueAttribute', 'the name of the attribute that holds the value');
  rejectIf(valueAttribute === tableKey[1], 'valueAttribute', 'another attribute than the sort key');
  rejectIf(shardAttribute !== tableKey[0], 'shardAttribute', `the partition key, ${tableKey[0]}`);
  const sorted = sortKeyAttributes.length === 1 && sortKeyAttributes[0] === tableKey[1];
  rejectIf(!sorted, 'sortKeyAttributes', `the sort key, ${tableKey[1]}`);
  checkNames('config.shardedBy', config.shardedBy, strategy === 'random' ? 0 : 1, MAX_SHARDED_BY);
  rejectIf(strategy === 'random' && config.shardedBy.length > 0, 'shardedBy', 'empty if the strategy is random');
  rejectIf(config.shardedBy.includes(shardAttribute), 'shardedBy', 'attributes other than the partition key');
  rejectIf(config.shardedBy.includes(valueAttribute), 'shardedBy', 'attributes that differ among the items of a value');
  rejectIf(config.separator === undefined, 'separator', ALLOWED_SHARD_FORMAT.separator);
  rejectIf(config.firstShard === undefined, 'firstShard', ALLOWED_SHARD_FORMAT.firstShard);
  checkShardNames(config);
}

const COUNTS =
  'made of default and byValue, with counts of write, read and since (update this package to read newer fields)';

/**
 * @throws InvalidIndexConfigError or `InvalidShardCountError` if a count is invalid, or readers do not query every
 *   shard that writers use
 */
export function checkIndexShards(field: string, shards: IndexShards): void {
  const unknown = unknownShardsField(Object(shards));
  if (unknown !== undefined) throw new InvalidIndexConfigError(field, unknown, COUNTS);
  checkCounts(`${field}.default`, shards?.default);
  for (const [value, count] of Object.entries(shards.byValue ?? {})) {
    checkCounts(`${field}.byValue[${JSON.stringify(value)}]`, count);
  }
}

function checkCounts(field: string, count: ShardCount): void {
  checkIndexShardCount(`${field}.write`, count?.write);
  checkIndexShardCount(`${field}.read`, count?.read);
  if (count.read < count.write) {
    throw new InvalidIndexConfigError(`${field}.read`, count.read, `at least the write count, ${count.write}`);
  }
  if (count.since === undefined) return;
  checkIndexShardCount(`${field}.since`, count.since);
  if (count.since > count.write) {
    throw new InvalidIndexConfigError(`${field}.since`, count.since, `at most the write count, ${count.write}`);
  }
}

/** The maximum length of a table name, which can be an ARN. Source: the DynamoDB API reference, TableName. */
const MAX_NAME = 1_024;

function checkName(field: string, name: unknown): void {
  if (!isText(name)) throw new InvalidIndexConfigError(field, name, 'a non-empty string');
  if (name.length > MAX_NAME) throw new InvalidIndexConfigError(field, name, `at most ${MAX_NAME} characters long`);
}

function checkNames(field: string, names: unknown, least: number, most: number): void {
  const valid =
    Array.isArray(names) &&
    names.length >= least &&
    names.length <= most &&
    names.every((name) => isText(name) && name.length <= MAX_NAME);
  if (!valid) throw new InvalidIndexConfigError(field, names, `an array of ${least} to ${most} attribute names`);
}

function checkOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw new InvalidIndexConfigError(field, value, `one of ${allowed.join(', ')}`);
}
