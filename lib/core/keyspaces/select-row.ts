import { checkFields } from '../kernel/checks';
import { InvalidArgumentError, shortened } from '../kernel/errors';
import { pages } from '../kernel/pages';
import { checkIndexShardCount } from '../sharding/shard-count';
import { columnValue } from './column-value';
import { type CqlClient, type CqlRow, checkCqlClient, type ReadConsistency } from './cql-client';
import { InvalidColumnValueError, UnknownColumnError } from './keyspaces-errors';
import { productOfCodePoints } from './product-of-code-points';
import { checkProjection, consistencyLevel } from './row-select';
import { selectRows } from './select-rows';
import { type Statement, selectStatement } from './select-statement';
import { calculatedFromText, shardOfText } from './shard-columns';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { checkOnce, partitionValues, shardsOfValue } from './shards-of-value';

/** Options of `selectRow`. */
export interface SelectRowOptions {
  /** @default 'LOCAL_ONE' */
  consistency?: ReadConsistency;
  /**
   * The columns to return.
   * @default every column
   */
  projection?: string[];
  /**
   * Former shard counts of the value, each from 1 to 10,000. Pass these counts while rows are still in the shards of these
   * counts. `selectRow` then also reads these shards, one after another in the given order, until it finds the row.
   * @default only the shard of the current count is read
   */
  formerShardCounts?: number[];
  /**
   * Shard counts of another application that has placed rows with `productOfCodePoints`, as the guide of Amazon Keyspaces
   * suggests. `selectRow` reads these shards last, one after the other, until it finds the row. `reshardRows` moves such rows
   * to the shards that writers use.
   * @default no such shard is read
   */
  productShardCounts?: number[];
}

/**
 * Reads one row by its key, with one SELECT statement for one shard. The strategy of the table must be `calculated` or
 * `product`.
 *
 * @param key the partition key without the shard column, and every clustering column
 * @returns the row, or undefined if no row has this key
 * @throws InvalidArgumentError if the strategy of the table is `random`, so that the shard of a row is unknown
 * @throws UnknownColumnError if `key` has a column that is not part of the table's key
 * @throws InvalidColumnValueError if a column is missing or does not fit its CQL type
 */
export async function selectRow(
  client: CqlClient,
  config: ShardedKeyspacesConfig,
  key: object,
  options: SelectRowOptions = {},
): Promise<CqlRow | undefined> {
  checkCqlClient(client);
  checkOnce(config);
  checkFields('options', options);
  const { consistency, projection, formerShardCounts = [], productShardCounts = [] } = options;
  checkCounts('formerShardCounts', formerShardCounts);
  checkCounts('productShardCounts', productShardCounts);
  const { strategy, partitionKey, clusteringColumns, firstShard, tableName } = config;
  if (strategy === 'random') {
    const allowed = `calculated or product (the shard of a row of ${shortened(tableName)} is unknown: use fanOutSelect with eq on every clustering column)`;
    throw new InvalidArgumentError('config.strategy', strategy, allowed);
  }
  checkFields('key', key);
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
      throw new InvalidColumnValueError(`key.${column.name}`, value, 'set (it is part of the key)');
    return columnValue(`key.${column.name}`, column, value);
  });
  const counts = [shardsOfValue(config, partition).write, ...formerShardCounts];
  const text = calculatedFromText('key', config, key);
  const shards = [
    ...counts.map((count) => shardOfText(config, text, count)),
    ...productShardCounts.map((count) => productOfCodePoints(text, count)),
  ];
  for (const shard of new Set(shards)) {
    const place = { partition, shard: firstShard + shard };
    const statement = selectStatement(config, place, false, { equal, range: {} }, projection);
    const row = await firstRow(client, statement, level);
    if (row !== undefined) return { ...row };
  }
  return undefined;
}

/** Reads pages until a page has a row, because a page can be empty although another page follows. */
async function firstRow(client: CqlClient, statement: Statement, consistency: number): Promise<CqlRow | undefined> {
  const read = (pageState: string | undefined) =>
    selectRows(client, statement, { prepare: true, consistency, isIdempotent: true, pageState });
  for await (const { rows } of pages('SELECT', read, ({ pageState }) => pageState)) {
    if (rows.length > 0) return rows[0];
  }
  return undefined;
}

function checkCounts(field: string, counts: unknown): void {
  if (!Array.isArray(counts)) throw new InvalidArgumentError(field, counts, 'an array of shard counts');
  for (const count of counts) checkIndexShardCount(field, count);
}
