import type { AllowedValues } from '../../lib/core/contract/allowed-values';
import { isObject, isRecord } from '../../lib/core/kernel/checks';
import type {
  ShardedConfig,
  ShardedConfigSource,
  ShardedTableConfig,
} from '../../lib/core/sharded-index/config/sharded-index-config';
import { UnknownIndexError } from '../../lib/core/sharded-index/config/sharded-index-errors';
import { FAN_OUT_FIELDS, type FanOutRequest } from '../../lib/core/sharded-index/query/fan-out-request';
import { decodeBase64 } from '../base64';
import { InvalidEventError } from '../invalid-event-error';
import { checkValues } from './check-values';

/** A fan-out request and its index or table. */
export interface QueryEvent extends FanOutRequest {
  /** The name of one of the function's indexes. An event has either an index or a table. */
  index?: string;
  /** The name of one of the function's tables that are sharded by their own key. */
  table?: string;
  /**
   * Whether to read the page from DynamoDB even if the function has it in its cache.
   * @default false
   */
  fresh?: boolean;
  /**
   * The format of items: plain JSON, or DynamoDB JSON with types.
   * @default 'plain'
   */
  format?: 'plain' | 'dynamodb';
  /**
   * The behaviour if all attempts to read a shard fail, or if the invocation has nearly reached its timeout. `fail`:
   * the function fails. `partial`: the function returns a page without the shard, and lists the shard in
   * `missingShards`.
   * @default 'fail'
   */
  onShardFailure?: 'fail' | 'partial';
  /**
   * The content of the response: the items of a page, or the number of all items that match the request. `order`,
   * `limit`, `maxReadUnits` and `projection` must be absent for a count.
   * @default 'items'
   */
  select?: 'items' | 'count';
}

/** The indexes and tables of the function by name, and the values that the function may read. */
export interface Stores {
  /** The only values that requests may read. Undefined if they may read any value. */
  values?: AllowedValues;
  indexes: Record<string, ShardedConfig | ShardedConfigSource>;
  tables: Record<string, ShardedTableConfig>;
}

export interface ParsedEvent {
  config: ShardedConfig | ShardedConfigSource;
  fresh: boolean;
  request: FanOutRequest;
  format: 'plain' | 'dynamodb';
  select: 'items' | 'count';
  onShardFailure?: 'fail' | 'partial';
}

const SELECTS = ['items', 'count'];
/** The fields that are only for items, not for a count. */
const OF_ITEMS = ['order', 'limit', 'maxReadUnits', 'projection'] as const;
const FORMATS = ['plain', 'dynamodb'];
/** The fields of an event that are not fields of a request. */
const OWN_FIELDS = ['index', 'table', 'fresh', 'format', 'select', 'onShardFailure'];

/** Returns the parts of an event. Checks everything that the core does not check. */
export function parseQueryEvent({ indexes, tables, values }: Stores, event: unknown): ParsedEvent {
  if (!isRecord(event)) {
    throw new InvalidEventError('event', event, 'an object with index and a fan-out request');
  }
  const {
    index,
    table,
    fresh = false,
    format = 'plain',
    select = 'items',
    onShardFailure,
    ...request
  } = event as QueryEvent;
  const unknown = Object.keys(request).find((field) => !FAN_OUT_FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new InvalidEventError('event', unknown, `made of ${[...OWN_FIELDS, ...FAN_OUT_FIELDS].join(', ')}`);
  }
  if (index === undefined && table === undefined && Object.keys(indexes).length > 0 && Object.keys(tables).length > 0) {
    const allowed = `an object with index (one of ${namesOf(indexes)}) or table (one of ${namesOf(tables)})`;
    throw new UnknownIndexError('event', event, allowed);
  }
  if (index !== undefined && table !== undefined) {
    throw new InvalidEventError('table', table, 'absent, because the event has an index');
  }
  const config =
    table === undefined && (index !== undefined || Object.keys(indexes).length > 0)
      ? named('index', indexes, index)
      : named<ShardedConfig | ShardedConfigSource>('table', tables, table);
  checkValues(values, request);
  if (typeof fresh !== 'boolean') throw new InvalidEventError('fresh', fresh, 'true, false or absent');
  if (!FORMATS.includes(format)) throw new InvalidEventError('format', format, `one of ${FORMATS.join(', ')}`);
  if (!SELECTS.includes(select)) throw new InvalidEventError('select', select, `one of ${SELECTS.join(', ')}`);
  const ofItems = OF_ITEMS.find((field) => request[field] !== undefined);
  if (select === 'count' && ofItems !== undefined) {
    throw new InvalidEventError(ofItems, request[ofItems], 'absent, because a count returns no items');
  }
  for (const field of ['expressionAttributeValues', 'sortKey'] as const) {
    if (request[field] !== undefined) Object.assign(request, { [field]: withBinary(field, request[field]) });
  }
  return { config, request, fresh, format, select, ...(onShardFailure !== undefined && { onShardFailure }) };
}

/**
 * The maximum depth of JSON. Each level of an attribute value has two levels of JSON, and the core itself rejects more
 * than DynamoDB's 32 levels.
 */
const MAX_JSON_DEPTH = 100;

function named<C>(field: string, configs: Record<string, C>, name: unknown): C {
  if (typeof name === 'string' && Object.hasOwn(configs, name)) return configs[name]!;
  throw new UnknownIndexError(field, name, `one of ${namesOf(configs)}`);
}

function namesOf(configs: Record<string, unknown>): string {
  return Object.keys(configs).join(', ');
}

/** Decodes the base64 text of binary attribute values, and keeps all other values. */
function withBinary(field: string, json: unknown, type?: string, depth = 0): unknown {
  if (type === 'B' && typeof json === 'string') return decodeBase64(field, json);
  if (!isObject(json)) return json;
  if (depth === MAX_JSON_DEPTH)
    throw new InvalidEventError(field, json, `nested at most ${MAX_JSON_DEPTH} levels deep`);
  const inner = (key: string | undefined, value: unknown) => withBinary(field, value, key, depth + 1);
  if (Array.isArray(json)) return json.map((item) => inner(type === 'BS' ? 'B' : undefined, item));
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, inner(key, value)]));
}
