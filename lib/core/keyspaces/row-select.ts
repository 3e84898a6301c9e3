import { checkPageRequest, requestedValues } from '../fan-out/page-request';
import { isRecord } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { type ColumnRange, rangeOf } from './clustering-range';
import type { ColumnValue } from './column-value';
import { CONSISTENCY_LEVELS, type ReadConsistency } from './cql-client';
import type { ClusteringCondition, FanOutSelectRequest } from './fan-out-select-request';
import { InvalidClusteringConditionError, UnknownColumnError } from './keyspaces-errors';
import { columnNames, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { partitionValues } from './shards-of-value';

export interface RowSelect {
  /** For each value, the columns of the partition key except the shard column. */
  partitions: ColumnValue[][];
  /** The values that the first clustering columns must have. */
  equal: ColumnValue[];
  /** The range of the next clustering column. */
  range: ColumnRange;
  reversed: boolean;
  shardByShard: boolean;
  consistency: number;
}

const FIELDS = ['value', 'values', 'where', 'order', 'limit', 'cursor', 'projection', 'consistency'];

/** @throws InvalidArgumentError, or one of its subclasses, if the request is invalid */
export function rowSelect(config: ShardedKeyspacesConfig, request: FanOutSelectRequest): RowSelect {
  checkPageRequest(request, FIELDS);
  const { order } = request;
  checkProjection(config, request.projection);
  const ownOrder = config.clusteringColumns[0]?.order === 'DESC' ? 'descending' : 'ascending';
  return {
    partitions: requestedValues(
      request,
      (field, value) => partitionOf(config, field, value),
      (partition) => JSON.stringify(partition.map(({ text }) => text)),
    ),
    ...conditionsOf(config, request.where),
    reversed: order !== undefined && order !== 'unordered' && order !== ownOrder,
    shardByShard: order === 'unordered',
    consistency: consistencyLevel(request.consistency),
  };
}

/** @throws InvalidArgumentError if Amazon Keyspaces does not support the consistency level for reads */
export function consistencyLevel(consistency: ReadConsistency = 'LOCAL_ONE'): number {
  const isLevel = typeof consistency === 'string' && Object.hasOwn(CONSISTENCY_LEVELS, consistency);
  if (isLevel) return CONSISTENCY_LEVELS[consistency];
  const allowed = `one of ${Object.keys(CONSISTENCY_LEVELS).join(', ')}`;
  throw new InvalidArgumentError('consistency', consistency, allowed);
}

/** @throws UnknownColumnError if the table does not have these columns */
export function checkProjection(config: ShardedKeyspacesConfig, projection: unknown): void {
  if (projection === undefined) return;
  if (!Array.isArray(projection) || projection.length === 0) {
    throw new InvalidArgumentError('projection', projection, 'a non-empty array of column names');
  }
  const names = columnNames(config);
  for (const name of projection) {
    if (!names.includes(name)) throw new UnknownColumnError('projection', name, `made of ${names.join(', ')}`);
  }
}

function partitionOf(config: ShardedKeyspacesConfig, field: string, value: unknown): ColumnValue[] {
  const names = config.partitionKey.map(({ name }) => name);
  if (!isRecord(value)) {
    throw new InvalidArgumentError(field, value, `an object with the columns ${names.join(', ')}`);
  }
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    throw new UnknownColumnError(
      field,
      name,
      `made of the columns of the partition key except the shard: ${names.join(', ')}`,
    );
  }
  return partitionValues(field, config, value);
}

/**
 * Parses equality conditions on the first clustering columns, and then one range. Rows that meet such conditions are
 * consecutive in a partition.
 */
function conditionsOf(
  { clusteringColumns }: ShardedKeyspacesConfig,
  where: unknown,
): Pick<RowSelect, 'equal' | 'range'> {
  if (where === undefined) return { equal: [], range: {} };
  if (!isRecord(where)) throw new InvalidArgumentError('where', where, 'an object from clustering column to condition');
  const conditions = new Map(Object.entries(where as Record<string, ClusteringCondition>));
  for (const name of conditions.keys()) {
    if (clusteringColumns.some((column) => column.name === name)) continue;
    const known = clusteringColumns.map((column) => column.name).join(', ');
    throw new UnknownColumnError('where', name, `made of clustering columns: ${known} (other columns are not sorted)`);
  }
  const equal: ColumnValue[] = [];
  let range: ColumnRange = {};
  let open: string | undefined;
  for (const column of clusteringColumns) {
    const { name } = column;
    const condition = conditions.get(name);
    if (condition === undefined) {
      open ??= name;
      continue;
    }
    if (open !== undefined) {
      const allowed = `absent without eq on ${open} (a query reads consecutive rows, and ${open} comes first in the key)`;
      throw new InvalidClusteringConditionError(`where.${name}`, condition, allowed);
    }
    const parsed = rangeOf(`where.${name}`, column, condition);
    if ('equal' in parsed) {
      equal.push(parsed.equal);
    } else {
      range = parsed.range;
      open = name;
    }
  }
  return { equal, range };
}
