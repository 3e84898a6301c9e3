import { createHash } from 'node:crypto';
import type { DynamoDbItem } from '../foundation/attribute-value';
import { InvalidCursorError } from '../foundation/fan-out/fan-out-errors';
import { ItemSizes } from '../foundation/fan-out/item-sizes';
import type { Position } from '../foundation/fan-out/total-order';
import type { SortableValue } from './attribute-order';
import type { FanOutRequest } from './fan-out-request';
import type { ShardedIndexConfig } from './sharded-index-config';

/** The position of the last item of a page: its shard, and the attributes of its table key and sort key. */
export interface CursorPosition extends Position<DynamoDbItem> {
  item: Record<string, SortableValue>;
  /** The sizes of the query's items, as far as the query has read them. */
  sizes: ItemSizes;
}

const VERSION = 2;

/** With so many bytes, no altered cursor passes by accident. docs/decisions says why the checksum needs no secret. */
const CHECKSUM_BYTES = 16;

/**
 * The cursor behind an item. It holds one key, for any number of shards, and a checksum over that key and the query. By
 * the checksum, `decodeCursor` refuses an altered cursor and the cursor of another query.
 */
export function encodeCursor(
  config: ShardedIndexConfig,
  request: FanOutRequest,
  last: Position<DynamoDbItem>,
  sizes: ItemSizes,
): string {
  const key = positionAttributes(config).map((attribute) => encodeValue(last.item[attribute] as SortableValue));
  const sizing = [sizes.mean ?? 0, sizes.deviation].map(Math.round);
  const payload = JSON.stringify([VERSION, last.shard, ...sizing, ...key]);
  return Buffer.concat([checksum(config, request, payload), Buffer.from(payload)]).toString('base64url');
}

/** @throws InvalidCursorError if the cursor was altered or belongs to another query */
export function decodeCursor(config: ShardedIndexConfig, request: FanOutRequest): CursorPosition | undefined {
  const { cursor } = request;
  if (cursor === undefined) return undefined;
  const bytes = Buffer.from(typeof cursor === 'string' ? cursor : '', 'base64url');
  const payload = bytes.subarray(CHECKSUM_BYTES).toString();
  const intact =
    bytes.toString('base64url') === cursor &&
    bytes.subarray(0, CHECKSUM_BYTES).equals(checksum(config, request, payload));
  if (!intact) {
    throw new InvalidCursorError('cursor', cursor, 'the unaltered cursor of a page of the same query');
  }
  const [, shard, meanBytes, deviation, ...key] = JSON.parse(payload) as EncodedPosition;
  const attributes = positionAttributes(config).map(
    (attribute, index) => [attribute, decodeValue(key[index]!)] as const,
  );
  return { shard, item: Object.fromEntries(attributes), sizes: new ItemSizes(meanBytes, deviation) };
}

/** The attributes that a query must read of each item so that it can make a cursor. */
export function positionAttributes(config: ShardedIndexConfig): string[] {
  return [...new Set([...config.tableKey, ...config.sortKeyAttributes])];
}

/**
 * The checksum of a cursor. Two requests are the same query if they differ in nothing but the page size, the projection
 * and the cursor.
 */
function checksum(config: ShardedIndexConfig, request: FanOutRequest, payload: string): Buffer {
  const { value, sortKey, order = 'ascending', filterExpression } = request;
  const query = [
    config.tableName,
    config.indexName,
    config.keyLayout,
    positionAttributes(config),
    [value, sortKey, order, filterExpression],
    sortedEntries(request.expressionAttributeNames),
    sortedEntries(request.expressionAttributeValues),
  ];
  const text = JSON.stringify([query, payload], (_, inner) =>
    inner instanceof Uint8Array ? { binary: Buffer.from(inner).toString('base64') } : inner,
  );
  return createHash('sha256').update(text).digest().subarray(0, CHECKSUM_BYTES);
}

function sortedEntries(map: object = {}): [string, unknown][] {
  return Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
}

type EncodedValue = ['S' | 'N' | 'B', string];
type EncodedPosition = [version: number, shard: number, meanBytes: number, deviation: number, ...EncodedValue[]];

function encodeValue(value: SortableValue): EncodedValue {
  if ('S' in value) return ['S', value.S];
  return 'N' in value ? ['N', value.N] : ['B', Buffer.from(value.B).toString('base64')];
}

function decodeValue([type, text]: EncodedValue): SortableValue {
  if (type === 'S') return { S: text };
  return type === 'N' ? { N: text } : { B: new Uint8Array(Buffer.from(text, 'base64')) };
}
