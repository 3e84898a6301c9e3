import { isObject, isText, isWhole } from '../kernel/checks';
import { checkConfigFormat } from '../kernel/format-version';
import type { IndexShards, ShardCount } from '../sharded-index';
import { checkIndexShardCount, MAX_INDEX_SHARDS, unknownShardsField } from '../sharding/shard-count';
import { CQL_KEY_TYPES, type CqlKeyType } from './cql-key-type';
import { InvalidTableConfigError } from './keyspaces-errors';

/** A column that is part of the table's key. */
export interface KeyColumn {
  name: string;
  type: CqlKeyType;
}

/** A clustering column, and the order of the rows of a partition by this column. */
export interface ClusteringColumn extends KeyColumn {
  order: 'ASC' | 'DESC';
}

/**
 * The configuration of a sharded table. Applications and functions need the configuration to write to the table and to read
 * from it. The configuration is plain JSON, which the constructs emit.
 */
export interface ShardedKeyspacesConfig {
  /**
   * The version of this format, which is always 1. Readers and writers reject any other version.
   * @default 1
   */
  version?: 1;
  keyspaceName: string;
  tableName: string;
  /**
   * The columns of the partition key except the shard column. Each value of these columns is spread over several
   * partitions.
   */
  partitionKey: KeyColumn[];
  /** The `int` column of the partition key that holds the shard. Writers set this column with `shardColumns`. */
  shardColumn: string;
  /** The number of the first shard of each value in the shard column. */
  firstShard: number;
  /**
   * The clustering columns. Only an existing table can lack them: each of its shards holds at most one row of a value, and
   * `shardColumns` rejects the table, because a write would overwrite the row of its shard.
   */
  clusteringColumns: ClusteringColumn[];
  /** The names of the regular and static columns. */
  columns: string[];
  /** The shard counts. In `byValue`, the columns of a value are joined by "#". */
  shards: IndexShards;
  /**
   * `calculated`: the shard is computed from clustering columns. `random`: each write chooses a shard at random. `product`: the
   * shard is the product of the code points of clustering columns. Use `product` only for a table that another application has
   * filled in this way. The product spreads rows unevenly, so move the rows to calculated shards.
   */
  strategy: 'random' | 'calculated' | 'product';
  /**
   * The clustering columns from which a calculated shard or a product is computed.
   * @default all clustering columns
   */
  calculatedFrom?: string[];
}

const FIELDS: readonly (keyof ShardedKeyspacesConfig)[] = [
  'version',
  'keyspaceName',
  'tableName',
  'partitionKey',
  'shardColumn',
  'firstShard',
  'clusteringColumns',
  'columns',
  'shards',
  'strategy',
  'calculatedFrom',
];

/**
 * The name of a keyspace, table or column. Source: the Amazon Keyspaces developer guide, "Quotas" and CQL elements.
 */
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_]{0,47}$/;

/** The largest number that the shard column can hold, because its type is `int`. */
const LARGEST_INT = 2 ** 31 - 1;

/**
 * @param prefix the text before the names of fields in messages
 * @throws InvalidTableConfigError or InvalidShardCountError if the configuration is invalid
 */
export function checkShardedKeyspacesConfig(config: ShardedKeyspacesConfig, prefix = 'config.'): void {
  if (!isObject(config)) {
    const allowed = 'a sharded table configuration, as ShardedKeyspacesTable emits it';
    throw new InvalidTableConfigError('config', config, allowed);
  }
  checkConfigFormat('Keyspaces configuration', config.version);
  if (config.version !== undefined && config.version !== 1) {
    throw new InvalidTableConfigError(`${prefix}version`, config.version, '1 or absent');
  }
  const unknown = Object.keys(config).find((field) => !(FIELDS as readonly string[]).includes(field));
  if (unknown !== undefined) {
    throw new InvalidTableConfigError(`${prefix}${unknown}`, unknown, `absent, or one of ${FIELDS.join(', ')}`);
  }
  for (const name of ['keyspaceName', 'tableName'] as const) {
    const given = config[name];
    if (!isText(given)) {
      throw new InvalidTableConfigError(`${prefix}${name}`, given, 'a non-empty string');
    }
  }
  checkColumns(config, prefix);
  const { firstShard } = config;
  if (!isWhole(firstShard, 0, LARGEST_INT - MAX_INDEX_SHARDS)) {
    const allowed = `a whole number from 0 to ${LARGEST_INT - MAX_INDEX_SHARDS}`;
    throw new InvalidTableConfigError(`${prefix}firstShard`, firstShard, allowed);
  }
  checkStrategy(config, prefix);
  checkShards(`${prefix}shards`, config.shards);
}

function checkColumns(config: ShardedKeyspacesConfig, prefix: string): void {
  const { partitionKey, clusteringColumns, columns, shardColumn } = config;
  checkKeyColumns(`${prefix}partitionKey`, partitionKey);
  checkKeyColumns(`${prefix}clusteringColumns`, clusteringColumns);
  for (const { name, order } of clusteringColumns) {
    if (order === 'ASC' || order === 'DESC') continue;
    throw new InvalidTableConfigError(`${prefix}clusteringColumns.${name}.order`, order, 'ASC or DESC');
  }
  if (!Array.isArray(columns)) throw new InvalidTableConfigError(`${prefix}columns`, columns, 'an array of names');
  const names = [...namesOf(partitionKey), ...namesOf(clusteringColumns), ...columns];
  for (const name of [...names, shardColumn]) checkName(`${prefix}columns`, name);
  if (names.includes(shardColumn)) {
    const allowed = 'a separate column, not a clustering column or another column of the table';
    throw new InvalidTableConfigError(`${prefix}shardColumn`, shardColumn, allowed);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidTableConfigError(`${prefix}columns`, twice, 'names that differ');
}

function checkStrategy(config: ShardedKeyspacesConfig, prefix: string): void {
  const { strategy, clusteringColumns, calculatedFrom } = config;
  if (!['random', 'calculated', 'product'].includes(strategy)) {
    throw new InvalidTableConfigError(`${prefix}strategy`, strategy, 'random, calculated or product');
  }
  if (strategy !== 'random' && clusteringColumns.length === 0) {
    const allowed = 'random (without clustering columns, the shard of a row is not known from its key)';
    throw new InvalidTableConfigError(`${prefix}strategy`, strategy, allowed);
  }
  if (calculatedFrom !== undefined) {
    const known = namesOf(clusteringColumns);
    const valid = Array.isArray(calculatedFrom) && calculatedFrom.length > 0 && strategy !== 'random';
    if (!valid || calculatedFrom.some((name) => !known.includes(name)) || hasTwins(calculatedFrom)) {
      const allowed = `of ${known.join(', ')}, each once, for calculated shards (a reader computes the shard from the key alone)`;
      throw new InvalidTableConfigError(`${prefix}calculatedFrom`, calculatedFrom, allowed);
    }
  }
}

/**
 * @param prefix the text before the names of fields in messages
 * @throws InvalidTableConfigError if the table has no clustering columns, so that a row would overwrite another row
 */
export function requireClusteringColumns(
  { clusteringColumns }: { readonly clusteringColumns: readonly object[] },
  prefix = 'config.',
): void {
  if (clusteringColumns.length > 0) return;
  const allowed =
    'one or more columns that identify the rows of a partition, such as an id (otherwise each row overwrites the previous row)';
  throw new InvalidTableConfigError(`${prefix}clusteringColumns`, clusteringColumns, allowed);
}

/** The clustering columns from which a shard is calculated. */
export function calculatedFromColumns({ clusteringColumns, calculatedFrom }: ShardedKeyspacesConfig): KeyColumn[] {
  if (calculatedFrom === undefined) return clusteringColumns;
  return calculatedFrom.map((name) => clusteringColumns.find((column) => column.name === name)!);
}

/** Every column of the table, in the order of its definition. */
export function columnNames({
  partitionKey,
  shardColumn,
  clusteringColumns,
  columns,
}: ShardedKeyspacesConfig): string[] {
  return [...namesOf(partitionKey), shardColumn, ...namesOf(clusteringColumns), ...columns];
}

function namesOf(columns: readonly KeyColumn[]): string[] {
  return columns.map(({ name }) => name);
}

function hasTwins(names: readonly string[]): boolean {
  return new Set(names).size < names.length;
}

function checkKeyColumns(field: string, columns: unknown): void {
  if (!Array.isArray(columns)) throw new InvalidTableConfigError(field, columns, 'an array of columns');
  for (const column of columns) {
    const { name, type }: Partial<KeyColumn> = Object(column);
    checkName(`${field}.name`, name);
    if (!CQL_KEY_TYPES.includes(type as CqlKeyType)) {
      throw new InvalidTableConfigError(`${field}.${name}.type`, type, `one of ${CQL_KEY_TYPES.join(', ')}`);
    }
  }
}

function checkName(field: string, name: unknown): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  const allowed = '1 to 48 letters, digits and underscores that do not start with an underscore';
  throw new InvalidTableConfigError(field, name, allowed);
}

function checkShards(field: string, shards: IndexShards): void {
  const unknown = unknownShardsField(Object(shards));
  if (unknown !== undefined) {
    const allowed =
      'made of default and byValue, with counts of write and read (update this package to read newer fields)';
    throw new InvalidTableConfigError(field, unknown, allowed);
  }
  const counts: [string, ShardCount][] = [
    [`${field}.default`, shards?.default],
    ...Object.entries(shards?.byValue ?? {}).map(([value, count]): [string, ShardCount] => [
      `${field}.byValue[${JSON.stringify(value)}]`,
      count,
    ]),
  ];
  for (const [name, count] of counts) {
    checkIndexShardCount(`${name}.write`, count?.write);
    checkIndexShardCount(`${name}.read`, count?.read);
    if (count.read < count.write) {
      throw new InvalidTableConfigError(`${name}.read`, count.read, `at least the write count, ${count.write}`);
    }
    if (count.since === undefined) continue;
    const allowed = 'absent (to read rows of an earlier count, use alsoReading, or formerShardCounts for single rows)';
    throw new InvalidTableConfigError(`${name}.since`, count.since, allowed);
  }
}
