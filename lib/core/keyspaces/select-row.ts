import { InvalidArgumentError } from '../foundation/errors';
import { columnValue } from './column-value';
import type { CqlClient, CqlRow, ReadConsistency } from './cql-client';
import { InvalidColumnValueError, UnknownColumnError } from './keyspaces-errors';
import { checkProjection, consistencyLevel } from './row-select';
import { selectRows } from './select-rows';
import { selectStatement } from './select-statement';
import { shardOfRow } from './shard-columns';
import { checkShardedKeyspacesConfig, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { partitionValues, shardsOfValue } from './shards-of-value';

/** How to read one row. */
export interface SelectRowOptions {
  /** @default 'LOCAL_ONE' */
  consistency?: ReadConsistency;
  /**
   * Columns to return.
   * @default every column
   */
  projection?: string[];
  /**
   * Counts that the value had before, while rows are left where those placed them: these shards are asked too, one after
   * the other in the order given, until the row is found.
   * @default none: one SELECT
   */
  formerShardCounts?: number[];
}

/**
 * Reads one row of a table with calculated shards, by its key: one SELECT of one shard.
 *
 * @param key the partition key but for the shard, and every clustering column
 * @returns undefined if there is no such row
 * @throws InvalidArgumentError if the table's shards are random: nobody knows the shard of a row then; UnknownColumnError
 *   for a column that is no part of the key, and InvalidColumnValueError if one is missing or none of its CQL type
 */
export async function selectRow(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  key: object,
  { consistency, projection, formerShardCounts = [] }: SelectRowOptions = {},
): Promise<CqlRow | undefined> {
  checkShardedKeyspacesConfig(config);
  const { strategy, partitionKey, clusteringColumns, firstShard, tableName } = config;
  if (strategy !== 'calculated') {
    const allowed = `calculated to find a row of ${tableName} in one shard: use fanOutSelect with eq on every clustering column`;
    throw new InvalidArgumentError('config.strategy', strategy, allowed);
  }
  if (typeof key !== 'object' || key === null) throw new InvalidArgumentError('key', key, 'an object');
  const names = [...partitionKey, ...clusteringColumns].map(({ name }) => name);
  for (const name of Object.keys(key)) {
    if (!names.includes(name)) throw new UnknownColumnError('key', name, `made of ${names.join(', ')}`);
  }
  checkProjection(config, projection);
  const level = consistencyLevel(consistency);
  const partition = partitionValues('key', config, key);
  const equal = clusteringColumns.map((column) => {
    const value = (key as Record<string, unknown>)[column.name];
    if (value === undefined)
      throw new InvalidColumnValueError(`key.${column.name}`, value, 'given: it is part of the key');
    return columnValue(`key.${column.name}`, column, value);
  });
  const counts = [shardsOfValue(config, partition).write, ...formerShardCounts];
  for (const shard of new Set(counts.map((count) => firstShard + shardOfRow('key', config, key, count)))) {
    const select = { partition, reversed: false };
    const statement = selectStatement(config, select, shard, { equal, range: {} }, projection);
    const { rows } = await selectRows(client, statement, { prepare: true, consistency: level, isIdempotent: true });
    if (rows.length > 0) return { ...rows[0] };
  }
  return undefined;
}
