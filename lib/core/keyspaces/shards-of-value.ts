import type { ShardCount } from '../sharded-index';
import { type ColumnValue, columnValue } from './column-value';
import { InvalidColumnValueError } from './keyspaces-errors';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** Stands between the columns of a value in `shards.byValue`, and of what a calculated shard follows from. */
const SEPARATOR = '#';

export function joinedText(values: readonly ColumnValue[]): string {
  return values.map(({ text }) => text).join(SEPARATOR);
}

/** The columns of the partition key, of a row or a request, in the order of the key. */
export function partitionValues(field: string, config: ShardedKeyspacesConfig, row: object): ColumnValue[] {
  return config.partitionKey.map((column) => {
    const { name } = column;
    const value = (row as Record<string, unknown>)[name];
    if (value === undefined || value === null) {
      throw new InvalidColumnValueError(`${field}.${name}`, value, 'given: it is part of the partition key');
    }
    return columnValue(`${field}.${name}`, column, value);
  });
}

/** How many shards a value is spread over. */
export function shardsOfValue({ shards }: ShardedKeyspacesConfig, partition: readonly ColumnValue[]): ShardCount {
  const { byValue = {} } = shards;
  const value = joinedText(partition);
  return Object.hasOwn(byValue, value) ? byValue[value]! : shards.default;
}
