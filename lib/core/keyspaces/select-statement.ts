import type { ColumnRange } from './clustering-range';
import { type ColumnValue, operandOf } from './column-value';
import type { ShardSegment } from './shard-segment';
import { columnNames, type KeyColumn, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import type { TableShard } from './table-shard';

/** A statement with its parameters. The driver prepares the statement once and executes it often. */
export interface Statement {
  query: string;
  parameters: unknown[];
}

/**
 * Builds a SELECT of rows of one shard, with equality conditions and then one range. The statement uses no `ALLOW FILTERING`,
 * no `IN` and no index.
 */
export function selectStatement(
  config: ShardedKeyspacesConfig,
  { partition, shard }: Omit<TableShard, 'number'>,
  reversed: boolean,
  { equal, range }: ShardSegment,
  projection: readonly string[] = columnNames(config),
): Statement {
  const { keyspaceName, tableName, partitionKey, shardColumn, clusteringColumns } = config;
  const relations: string[] = [];
  const parameters: unknown[] = [];
  const add = (column: KeyColumn, operator: string, value: ColumnValue): void => {
    const operand = operandOf(column, value);
    relations.push(`${quoted(column.name)} ${operator} ${'literal' in operand ? operand.literal : '?'}`);
    if ('parameter' in operand) parameters.push(operand.parameter);
  };
  partitionKey.forEach((column, index) => {
    add(column, '=', partition[index]!);
  });
  relations.push(`${quoted(shardColumn)} = ?`);
  parameters.push(shard);
  equal.forEach((value, index) => {
    add(clusteringColumns[index]!, '=', value);
  });
  const ranged = clusteringColumns[equal.length];
  if (ranged !== undefined) addRange(range, (operator, value) => add(ranged, operator, value));
  const order =
    reversed && clusteringColumns.length > 0
      ? ` ORDER BY ${clusteringColumns.map(({ name, order }) => `${quoted(name)} ${order === 'ASC' ? 'DESC' : 'ASC'}`).join(', ')}`
      : '';
  const columns = projection.map(quoted).join(', ');
  return {
    query: `SELECT ${columns} FROM ${quoted(keyspaceName)}.${quoted(tableName)} WHERE ${relations.join(' AND ')}${order}`,
    parameters,
  };
}

function addRange({ lower, upper }: ColumnRange, add: (operator: string, value: ColumnValue) => void): void {
  if (lower !== undefined) add(lower.inclusive ? '>=' : '>', lower.value);
  if (upper !== undefined) add(upper.inclusive ? '<=' : '<', upper.value);
}

/** Quotes a name, so that the database does not read the name as a keyword, and does not change its case. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
