import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { ItemSizes } from '../../fan-out/item-sizes';
import { BLOCK_BYTES } from '../../fan-out/read-size';
import { openedCursor, sealedCursor } from '../../fan-out/sealed-cursor';
import type { Position } from '../../fan-out/total-order';
import { areCounts } from '../../kernel/sealed-text';
import { isNumberText } from '../config/check-attribute-value';
import type { ShardedConfig } from '../config/sharded-index-config';
import type { SortableValue } from './attribute-order';
import type { FanOutRequest } from './fan-out-request';
import { behindAllShards } from './position-order';

/** Where a page ended, and what the next page must know to go on from there at little cost. */
export interface CursorPosition extends Position<DynamoDbItem> {
  /**
   * The attributes of the table key and the sort key of the page's last item. If there is no table key, it holds the first
   * attributes of the sort key, and the page ended after all items with these attributes.
   */
  item: Record<string, SortableValue>;
  /** Whether the position is that of an item. */
  isItem: boolean;
  /**
   * For each sort key attribute: about how many items of all shards stand before the position and have the same value
   * of this attribute and of those before it, or `UNKNOWN_TIES`. It decides only what the next page costs.
   */
  ties: readonly number[];
  /** The sizes of the query's items, as far as the query has read them. */
  sizes: ItemSizes;
  /** The `stretch` of the page: how many of its consecutive items came from one shard on average. */
  stretch: number;
}

/** Stands for a number of ties that is not known, and that may be large. */
export const UNKNOWN_TIES = -1;

/** The name of the layout below. `decodeCursor` rejects a cursor of another layout. */
const LAYOUT = 'cursor 5';

/**
 * A read of up to this many repeated items, and of those that follow, gets beyond the repeated items even if the answer is
 * small.
 */
const MAX_REPEATS = 3;

/** Whether reading this many items again is better than leaving them out with one more request of each shard. */
export function isFewTies(ties: number, { sizes }: CursorPosition): boolean {
  if (ties === UNKNOWN_TIES) return false;
  return ties <= MAX_REPEATS && ties * (sizes.mean ?? BLOCK_BYTES) <= BLOCK_BYTES;
}

/**
 * The cursor behind a position: the key, with null for an absent attribute, and then the ties. It holds one key, for any
 * number of shards.
 */
export function encodeCursor(
  config: ShardedConfig,
  request: FanOutRequest,
  end: Position<DynamoDbItem>,
  ties: readonly number[],
  { sizes, stretch }: Pick<CursorPosition, 'sizes' | 'stretch'>,
): string {
  const key = positionAttributes(config).map((attribute) => {
    const value = end.item[attribute] as SortableValue | undefined;
    return value === undefined ? null : encodeValue(value);
  });
  const learned = [sizes.mean ?? 0, sizes.deviation, stretch] as const;
  return sealedCursor([LAYOUT, queryText(config, request)], end.shard, learned, [...key, ...ties]);
}

/** @throws InvalidCursorError if the cursor was altered or belongs to another query */
export function decodeCursor(config: ShardedConfig, request: FanOutRequest): CursorPosition | undefined {
  const { cursor, order = 'ascending' } = request;
  if (cursor === undefined) return undefined;
  const names = positionAttributes(config);
  const query = [LAYOUT, queryText(config, request)];
  return openedCursor(query, cursor, behindAllShards(order), (shard, [meanBytes, deviation, stretch], rest) => {
    const key = rest.slice(0, names.length);
    const ties = rest.slice(names.length) as number[];
    const isPosition =
      key.length === names.length &&
      key.every((each) => each === null || isEncodedValue(each)) &&
      areCounts(ties.map((each) => each - UNKNOWN_TIES));
    if (!isPosition) return undefined;
    const attributes = names.flatMap((name, index) => {
      const value = key[index] as string | null;
      return value === null ? [] : [[name, decodeValue(value)] as const];
    });
    return {
      shard,
      item: Object.fromEntries(attributes),
      isItem: Number.isFinite(shard) && attributes.length === names.length,
      ties,
      sizes: new ItemSizes(meanBytes, deviation),
      stretch,
    };
  });
}

/** The attributes that a query must read of each item so that it can make a cursor. */
export function positionAttributes(config: ShardedConfig): string[] {
  return [...new Set([...config.tableKey, ...config.sortKeyAttributes])];
}

/**
 * What makes a query this query. Two requests are the same query if they differ in nothing but the bounds of the page, the
 * projection and the cursor.
 */
export function queryText(config: ShardedConfig, request: FanOutRequest): string {
  const { value, values, sortKey, order = 'ascending', filterExpression } = request;
  return JSON.stringify([
    config.tableName,
    config.indexName,
    config.keyLayout,
    positionAttributes(config),
    [value, values, sortKey, order, filterExpression],
    sortedEntries(request.expressionAttributeNames),
    sortedEntries(request.expressionAttributeValues),
  ]);
}

/** The entries of a map, in one order, whatever the order in which they were written. */
export function sortedEntries<V>(map: Record<string, V> = {}): (readonly [string, V])[] {
  const names = Object.keys(map).sort();
  return names.map((name) => [name, map[name]!]);
}

/** The letter of the type, and the text of the value. */
export function encodeValue(value: SortableValue): string {
  if ('S' in value) return `S${value.S}`;
  return 'N' in value ? `N${value.N}` : `B${Buffer.from(value.B).toString('base64')}`;
}

/** Whether a value is what `encodeValue` returns. */
export function isEncodedValue(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < 2) return false;
  if (value[0] === 'N') return isNumberText(value.slice(1));
  return value[0] === 'S' || (value[0] === 'B' && encodeValue(decodeValue(value)) === value);
}

export function decodeValue(encoded: string): SortableValue {
  const text = encoded.slice(1);
  if (encoded[0] === 'S') return { S: text };
  return encoded[0] === 'N' ? { N: text } : { B: new Uint8Array(Buffer.from(text, 'base64')) };
}
