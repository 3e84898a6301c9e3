import type { TotalOrder } from '../fan-out/total-order';
import { type ColumnValue, columnValue, compareValues } from './column-value';
import type { CqlRow } from './cql-client';
import { UnreadableRowError } from './keyspaces-errors';
import type { RowSelect } from './row-select';
import { incompleteRows } from './select-rows';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** The values of a row's clustering columns. These values determine the order of rows within a shard. */
export interface Keyed {
  key: ColumnValue[];
}

export interface KeyedRow extends Keyed {
  row: CqlRow;
}

/**
 * Reads the key of a row of a response. Undefined if the row has only static columns: the database returns such a row
 * for a partition without other rows.
 *
 * @throws IncompleteAnswerError if the row lacks a clustering column
 * @throws UnreadableRowError if a value does not fit the type of its column
 */
export function keyedRow(config: ShardedKeyspacesConfig, shard: number, row: CqlRow): KeyedRow | undefined {
  const { clusteringColumns } = config;
  const [first] = clusteringColumns;
  if (first !== undefined && Object(row)[first.name] === null) return undefined;
  const key = clusteringColumns.map((column) => {
    const value = row[millisecondsOf(column.name)] ?? row[column.name];
    if (value === undefined || value === null) throw incompleteRows();
    try {
      return columnValue(column.name, column, value);
    } catch (cause) {
      throw new UnreadableRowError(config, shard, column, { cause });
    }
  });
  return { row, key };
}

/** The alias of the column that returns the milliseconds of a timestamp outside the range of `Date`. */
export function millisecondsOf(column: string): string {
  return `${column} in milliseconds`;
}

/** 1 if a read returns the values of the column in ascending order, -1 if in descending order. */
export function directionOf(config: ShardedKeyspacesConfig, { reversed }: RowSelect, column: number): 1 | -1 {
  return (config.clusteringColumns[column]!.order === 'ASC') === reversed ? -1 : 1;
}

/** Compares two keys of one shard in the order of a read. */
export function compareKeys(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  a: readonly ColumnValue[],
  b: readonly ColumnValue[],
): number {
  for (let index = 0; index < a.length; index++) {
    const difference = compareValues(config.clusteringColumns[index]!, a[index]!, b[index]!);
    if (difference !== 0) return difference * directionOf(config, select, index);
  }
  return 0;
}

/** The order of rows over all shards: by key, and then by shard. A reversed query has exactly the reverse order. */
export function rowOrder(config: ShardedKeyspacesConfig, select: RowSelect): TotalOrder<Keyed> {
  const direction = select.reversed ? -1 : 1;
  return {
    compare: (a, b) =>
      compareKeys(config, select, a.item.key, b.item.key) ||
      (a.shard === b.shard ? 0 : (a.shard - b.shard) * direction),
    afterAllShards: afterAllShards(select),
  };
}

/**
 * The shard number of a cursor whose position is after all shards. A reversed query reads the lowest shard last, so this number
 * is smaller than the number of every shard.
 */
export function afterAllShards({ reversed }: RowSelect): number {
  return reversed ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
