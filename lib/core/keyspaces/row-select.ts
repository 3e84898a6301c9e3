import { InvalidArgumentError } from '../kernel/errors';
import { MAX_QUERY_VALUES } from '../sharding/shard-count';
import { rangeOf, type ValueRange } from './clustering-range';
import type { ColumnValue } from './column-value';
import { CONSISTENCY_LEVELS, type ReadConsistency } from './cql-client';
import type { ClusteringCondition, FanOutSelectRequest } from './fan-out-select-request';
import { InvalidClusteringConditionError, UnknownColumnError } from './keyspaces-errors';
import { columnNames, type ShardedKeyspacesConfig } from './sharded-keyspaces-config';
import { partitionValues } from './shards-of-value';

/** A request after its check, in terms of the table's columns. */
export interface RowSelect {
  /** For each value, the columns of the partition key without the shard. */
  partitions: ColumnValue[][];
  /** The values that the first clustering columns must equal. */
  equal: ColumnValue[];
  /** The range in which the clustering column after those must lie. */
  range: ValueRange;
  /** Whether the rows come in the reverse of the table's order. */
  reversed: boolean;
  /** Whether the shards come one after the other. */
  shardByShard: boolean;
  consistency: number;
}

const ORDERS = ['ascending', 'descending', 'unordered'];
const FIELDS = ['value', 'values', 'where', 'order', 'limit', 'cursor', 'projection', 'consistency'];

/** @throws a typed error unless the request can be asked of the table */
export function rowSelect(config: ShardedKeyspacesConfig, request: FanOutSelectRequest): RowSelect {
  if (!isObject(request)) throw new InvalidArgumentError('request', request, 'an object');
  for (const field of Object.keys(request)) {
    if (!FIELDS.includes(field)) throw new InvalidArgumentError('request', field, `made of ${FIELDS.join(', ')}`);
  }
  const { order, limit } = request;
  if (order !== undefined && !ORDERS.includes(order)) {
    throw new InvalidArgumentError('order', order, `one of ${ORDERS.join(', ')}`);
  }
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new InvalidArgumentError('limit', limit, 'a whole number of at least 1');
  }
  checkProjection(config, request.projection);
  const ownOrder = config.clusteringColumns[0]!.order === 'ASC' ? 'ascending' : 'descending';
  return {
    partitions: partitionsOf(config, request),
    ...conditionsOf(config, request.where),
    reversed: order !== undefined && order !== 'unordered' && order !== ownOrder,
    shardByShard: order === 'unordered',
    consistency: consistencyLevel(request.consistency),
  };
}

/** @throws InvalidArgumentError unless it is a level at which Amazon Keyspaces reads */
export function consistencyLevel(consistency: ReadConsistency = 'LOCAL_ONE'): number {
  const isLevel = typeof consistency === 'string' && Object.hasOwn(CONSISTENCY_LEVELS, consistency);
  if (isLevel) return CONSISTENCY_LEVELS[consistency];
  const allowed = `one of ${Object.keys(CONSISTENCY_LEVELS).join(', ')}`;
  throw new InvalidArgumentError('consistency', consistency, allowed);
}

/** @throws UnknownColumnError unless the table has these columns */
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

function partitionsOf(
  config: ShardedKeyspacesConfig,
  { value, values }: { value?: unknown; values?: unknown },
): ColumnValue[][] {
  if (values === undefined) return [partitionOf(config, 'value', value)];
  if (value !== undefined) {
    throw new InvalidArgumentError('value', value, 'absent because values names the values to read');
  }
  if (!Array.isArray(values) || values.length < 1 || values.length > MAX_QUERY_VALUES) {
    throw new InvalidArgumentError('values', values, `an array of 1 to ${MAX_QUERY_VALUES} different values`);
  }
  const seen = new Set<string>();
  return values.map((each, index) => {
    const partition = partitionOf(config, `values[${index}]`, each);
    seen.add(JSON.stringify(partition.map(({ text }) => text)));
    if (seen.size > index) return partition;
    throw new InvalidArgumentError(`values[${index}]`, each, 'different from the other values');
  });
}

function partitionOf(config: ShardedKeyspacesConfig, field: string, value: unknown): ColumnValue[] {
  const names = config.partitionKey.map(({ name }) => name);
  if (!isObject(value)) {
    throw new InvalidArgumentError(field, value, `an object with the columns ${names.join(', ')}`);
  }
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    throw new UnknownColumnError(field, name, `made of the partition key but for the shard: ${names.join(', ')}`);
  }
  return partitionValues(field, config, value);
}

/** Equality on the first clustering columns, then one range. A partition keeps such rows together. */
function conditionsOf(
  { clusteringColumns }: ShardedKeyspacesConfig,
  where: unknown,
): Pick<RowSelect, 'equal' | 'range'> {
  if (where === undefined) return { equal: [], range: {} };
  if (!isObject(where)) throw new InvalidArgumentError('where', where, 'an object from clustering column to condition');
  const conditions = new Map(Object.entries(where as Record<string, ClusteringCondition>));
  for (const name of conditions.keys()) {
    if (clusteringColumns.some((column) => column.name === name)) continue;
    const known = clusteringColumns.map((column) => column.name).join(', ');
    throw new UnknownColumnError('where', name, `made of clustering columns: ${known}; no other column is sorted`);
  }
  const equal: ColumnValue[] = [];
  let range: ValueRange = {};
  let open: string | undefined;
  for (const column of clusteringColumns) {
    const { name } = column;
    const condition = conditions.get(name);
    if (condition === undefined) {
      open ??= name;
      continue;
    }
    if (open !== undefined) {
      const allowed = `absent unless there is eq on ${open}, which comes before it in the key: nothing else is in one piece`;
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
