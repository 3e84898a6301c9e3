import { isObject, isRecord } from '../../lib/core/kernel/checks';
import type { FanOutSelectRequest } from '../../lib/core/keyspaces/fan-out-select-request';
import { UnknownTableError } from '../../lib/core/keyspaces/keyspaces-errors';
import type { ShardedKeyspacesConfig } from '../../lib/core/keyspaces/sharded-keyspaces-config';
import { decodeBase64 } from '../base64';
import { InvalidEventError } from '../invalid-event-error';

/** A fan-out select and its table. Values of `blob` columns are base64. */
export interface QueryEvent extends FanOutSelectRequest {
  /** The name of one of the function's tables. */
  table: string;
  /**
   * The behaviour if all attempts to read a shard fail, or if the invocation has nearly reached its timeout. `fail`:
   * the function fails. `partial`: the function returns a page without the shard, and lists the shard in
   * `missingShards`.
   * @default 'fail'
   */
  onShardFailure?: 'fail' | 'partial';
}

/** Returns the request of an event. Checks everything that the core does not check. */
export function parseQueryEvent(
  tables: Record<string, ShardedKeyspacesConfig>,
  event: unknown,
): { config: ShardedKeyspacesConfig; request: FanOutSelectRequest } & Pick<QueryEvent, 'onShardFailure'> {
  if (!isRecord(event)) {
    throw new InvalidEventError('event', event, 'an object with table and a fan-out select');
  }
  const { table, onShardFailure, ...request } = event as QueryEvent & Record<string, unknown>;
  if (typeof table !== 'string' || !Object.hasOwn(tables, table)) {
    throw new UnknownTableError('table', table, `one of ${Object.keys(tables).join(', ')}`);
  }
  const config = tables[table]!;
  for (const field of ['value', 'where'] as const) {
    if (request[field] !== undefined) Object.assign(request, { [field]: withBinary(config, field, request[field]) });
  }
  if (Array.isArray(request.values)) {
    const decoded = request.values.map((value, index) => withBinary(config, `values[${index}]`, value));
    Object.assign(request, { values: decoded });
  }
  return { config, request, ...(onShardFailure !== undefined && { onShardFailure }) };
}

/** Returns the values by column. Decodes the base64 text of `blob` columns to bytes. */
function withBinary(
  { partitionKey, clusteringColumns }: ShardedKeyspacesConfig,
  field: string,
  json: unknown,
): unknown {
  if (!isRecord(json)) return json;
  const blobs = [...partitionKey, ...clusteringColumns].filter(({ type }) => type === 'blob').map(({ name }) => name);
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      blobs.includes(name) ? decoded(`${field}.${name}`, value) : value,
    ]),
  );
}

/** The maximum depth of JSON in a value. A list of values in a condition has this depth. */
const MAX_DEPTH = 3;

/** Decodes a value, both ends of a range, or each operand of a condition. */
function decoded(field: string, json: unknown, depth = 0): unknown {
  if (typeof json === 'string') return decodeBase64(field, json);
  if (!isObject(json)) return json;
  if (depth === MAX_DEPTH) throw new InvalidEventError(field, json, 'a value, or a condition with values');
  if (Array.isArray(json)) return json.map((each) => decoded(field, each, depth + 1));
  return Object.fromEntries(
    Object.entries(json).map(([kind, operand]) => [kind, decoded(`${field}.${kind}`, operand, depth + 1)]),
  );
}
