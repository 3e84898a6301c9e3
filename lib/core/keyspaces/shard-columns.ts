import { InvalidArgumentError } from '../kernel/errors';
import { calculatedShard } from '../sharding/calculated-shard';
import { randomShard } from '../sharding/random-shard';
import { type ColumnValue, columnValue } from './column-value';
import { InvalidColumnValueError } from './keyspaces-errors';
import { productOfCodePoints } from './product-of-code-points';
import { calculatedFromColumns, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { checkOnce, joinedText, partitionValues, shardsOfValue } from './shards-of-value';

/**
 * The column that a writer adds to a row so that readers find it:
 *
 *     const { shard } = shardColumns(config, blog);
 *     await client.execute('INSERT INTO tracker.blogs (publish_date, shard, title) VALUES (?, ?, ?)',
 *       [blog.publish_date, shard, blog.title], KEYSPACES_WRITE_OPTIONS);
 *
 * A calculated shard is `calculatedShard` of the text of the column: dates as "2020-07-09", timestamps as
 * "2020-07-09T08:30:00.000Z", whole numbers in digits, UUIDs in small letters, `blob` in base64. Several columns have "#"
 * between them.
 *
 * @param row the row's columns; must hold the partition key and, for calculated shards, the columns they follow from
 * @throws InvalidColumnValueError if one of them is missing or does not fit its CQL type
 */
export function shardColumns(config: ShardedKeyspacesConfig, row: object): Record<string, number> {
  checkOnce(config);
  if (typeof row !== 'object' || row === null) throw new InvalidArgumentError('row', row, 'an object');
  const { write } = shardsOfValue(config, partitionValues('row', config, row));
  const shard = config.strategy === 'random' ? randomShard(write) : shardOfRow('row', config, row, write);
  return { [config.shardColumn]: config.firstShard + shard };
}

/** The calculated shard of a row among this many shards, counted from 0. */
export function shardOfRow(field: string, config: ShardedKeyspacesConfig, row: object, shardCount: number): number {
  return shardOfText(config, calculatedFromText(field, config, row), shardCount);
}

/** The shard that writers give to a text from which shards are calculated, among this many shards, counted from 0. */
export function shardOfText({ strategy }: ShardedKeyspacesConfig, text: string, shardCount: number): number {
  return strategy === 'product' ? productOfCodePoints(text, shardCount) : calculatedShard(text, shardCount);
}

/** The text from which the shard of a row is calculated. */
export function calculatedFromText(field: string, config: ShardedKeyspacesConfig, row: object): string {
  const values = calculatedFromColumns(config).map((column): ColumnValue => {
    const value = (row as Record<string, unknown>)[column.name];
    if (value === undefined || value === null) {
      throw new InvalidColumnValueError(
        `${field}.${column.name}`,
        value,
        'given: the calculated shard follows from it',
      );
    }
    return columnValue(`${field}.${column.name}`, column, value);
  });
  return joinedText(values);
}
