import { checkFields } from '../kernel/checks';
import { calculatedShard } from '../sharding/calculated-shard';
import { randomShard } from '../sharding/random-shard';
import { type ColumnValue, columnValue } from './column-value';
import { InvalidColumnValueError } from './keyspaces-errors';
import { productOfCodePoints } from './product-of-code-points';
import {
  calculatedFromColumns,
  requireClusteringColumns,
  type ShardedKeyspacesConfig,
} from './sharded-keyspaces-config';
import { checkOnce, joinedText, partitionValues, shardsOfValue } from './shards-of-value';

/**
 * Computes the shard column, which a writer adds to a row so that readers find the row:
 *
 *     const { shard } = shardColumns(config, blog);
 *     await client.execute('INSERT INTO tracker.blogs (publish_date, shard, title) VALUES (?, ?, ?)',
 *       [blog.publish_date, shard, blog.title], KEYSPACES_WRITE_OPTIONS);
 *
 * A calculated shard is the result of `calculatedShard` for the texts of its columns, joined by "#". A date is written as
 * "2020-07-09", a timestamp as "2020-07-09T08:30:00.000Z", an integer in digits, a UUID in lower case, and a `blob` in base64.
 *
 * @param row the columns of the row. The row must contain the partition key, and for calculated shards the columns from which
 *   the shard is calculated
 * @throws InvalidColumnValueError if one of these columns is missing or does not fit its CQL type
 */
export function shardColumns(config: ShardedKeyspacesConfig, row: object): Record<string, number> {
  checkOnce(config);
  requireClusteringColumns(config);
  checkFields('row', row);
  const { write } = shardsOfValue(config, partitionValues('row', config, row));
  const shard = config.strategy === 'random' ? randomShard(write) : shardOfRow(config, row, write);
  return { [config.shardColumn]: config.firstShard + shard };
}

/** The calculated shard of a row, from 0 to `shardCount` - 1. */
export function shardOfRow(config: ShardedKeyspacesConfig, row: object, shardCount: number): number {
  return shardOfText(config, calculatedFromText('row', config, row), shardCount);
}

/** The shard that writers calculate from a text, from 0 to `shardCount` - 1. */
export function shardOfText({ strategy }: ShardedKeyspacesConfig, text: string, shardCount: number): number {
  return strategy === 'product' ? productOfCodePoints(text, shardCount) : calculatedShard(text, shardCount);
}

/** The text from which the shard of a row is calculated. */
export function calculatedFromText(field: string, config: ShardedKeyspacesConfig, row: object): string {
  const values = calculatedFromColumns(config).map((column): ColumnValue => {
    const value = (row as Record<string, unknown>)[column.name];
    if (value === undefined || value === null) {
      throw new InvalidColumnValueError(`${field}.${column.name}`, value, 'set (the shard is calculated from it)');
    }
    return columnValue(`${field}.${column.name}`, column, value);
  });
  return joinedText(values);
}
