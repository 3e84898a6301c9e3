import type { TotalOrder } from '../fan-out/total-order';
import { type ColumnValue, columnValue, compareValues } from './column-value';
import type { CqlRow } from './cql-client';
import { UnreadableRowError } from './keyspaces-errors';
import type { RowSelect } from './row-select';
import { incompleteRows } from './select-rows';
import type { ShardedKeyspacesConfig } from './sharded-keyspaces-config';

/** What a row is ordered by within its shard: the values of its clustering columns. */
export interface Keyed {
  key: ColumnValue[];
}

export interface KeyedRow extends Keyed {
  row: CqlRow;
}

/**
 * The row of an answer; undefined for the static columns of a partition, which come as a row if the partition has no other
 * rows.
 *
 * @throws IncompleteAnswerError for a row without the columns that order it; UnreadableRowError for a value that its
 *   column's type does not have
 */
export function keyedRow(config: ShardedKeyspacesConfig, shard: number, row: CqlRow): KeyedRow | undefined {
  const { clusteringColumns } = config;
  if (Object(row)[clusteringColumns[0]!.name] === null) return undefined;
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

/** The name, in a statement, of the milliseconds of a timestamp that a `Date` cannot hold. */
export function millisecondsOf(column: string): string {
  return `${column} in milliseconds`;
}

/** 1 if a read meets the column's values in ascending order, -1 if in descending order. */
export function directionOf(config: ShardedKeyspacesConfig, { reversed }: RowSelect, column: number): 1 | -1 {
  return (config.clusteringColumns[column]!.order === 'ASC') === reversed ? -1 : 1;
}

/** The order in which a read meets two keys of one shard, by their first `columns` columns. */
export function compareKeys(
  config: ShardedKeyspacesConfig,
  select: RowSelect,
  a: readonly ColumnValue[],
  b: readonly ColumnValue[],
  columns = a.length,
): number {
  for (let index = 0; index < columns; index++) {
    const difference = compareValues(config.clusteringColumns[index]!, a[index]!, b[index]!);
    if (difference !== 0) return difference * directionOf(config, select, index);
  }
  return 0;
}

/** The order of rows over all shards. If reversed, it is the exact reverse. Of one key, only the shard counts. */
export function rowOrder(config: ShardedKeyspacesConfig, select: RowSelect): TotalOrder<Keyed> {
  const direction = select.reversed ? -1 : 1;
  return {
    compare: (a, b) =>
      compareKeys(config, select, a.item.key, b.item.key) ||
      (a.shard === b.shard ? 0 : (a.shard - b.shard) * direction),
    behindAllShards: behindAllShards(select),
  };
}

/** The shard number of a cursor that is behind all shards. A reversed query reads the lowest shard last, so its number is below all. */
export function behindAllShards({ reversed }: RowSelect): number {
  return reversed ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
