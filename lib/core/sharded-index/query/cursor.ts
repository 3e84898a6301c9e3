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
import { afterAllShards } from './position-order';

/** The position where a page ended, and statistics that make the next page cheap. */
export interface CursorPosition extends Position<DynamoDbItem> {
  /**
   * The table key and the sort key of the page's last item. If this object has no table key, it has only the first attributes
   * of the sort key. The page then ended after all items with these values.
   */
  item: Record<string, SortableValue>;
  /** Whether the page ended at an item. */
  isItem: boolean;
  /**
   * For each sort key attribute: approximately how many items before the position have the same values as the position, in this
   * attribute and in all earlier attributes. `UNKNOWN_TIES` if the number is unknown. The number influences only the cost of
   * the next page.
   */
  ties: readonly number[];
  sizes: ItemSizes;
  /** The `stretch` of the page: how many consecutive items of the page came from the same shard, on average. */
  stretch: number;
}

/** The number of ties is unknown and may be large. */
export const UNKNOWN_TIES = -1;

/** The version of the cursor's layout. `decodeCursor` rejects a cursor of another version. */
const LAYOUT = 'cursor 5';

/**
 * The maximum number of items that one read repeats. Even a small response then also has items after the repeated
 * items.
 */
const MAX_REPEATS = 3;

/**
 * Whether to read the tied items again. The alternative is one more request to each shard, which skips the tied items.
 */
export function isFewTies(ties: number, { sizes }: CursorPosition): boolean {
  if (ties === UNKNOWN_TIES) return false;
  return ties <= MAX_REPEATS && ties * (sizes.mean ?? BLOCK_BYTES) <= BLOCK_BYTES;
}

/**
 * Encodes the cursor after a position: the key, with null for an absent attribute, and then the ties. A cursor holds
 * one key, whatever the number of shards.
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
  return openedCursor(query, cursor, afterAllShards(order), (shard, [meanBytes, deviation, stretch], rest) => {
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

/** The attributes of an item from which a query creates a cursor. */
export function positionAttributes(config: ShardedConfig): string[] {
  return [...new Set([...config.tableKey, ...config.sortKeyAttributes])];
}

/**
 * The text that identifies a query. The text does not contain the bounds of a page, the projection and the cursor, which may
 * differ between the pages of a query.
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

/** The entries of a map, sorted by name. */
export function sortedEntries<V>(map: Record<string, V> = {}): (readonly [string, V])[] {
  const names = Object.keys(map).sort();
  return names.map((name) => [name, map[name]!]);
}

/** Encodes a value as the letter of its type and its text. */
export function encodeValue(value: SortableValue): string {
  if ('S' in value) return `S${value.S}`;
  return 'N' in value ? `N${value.N}` : `B${Buffer.from(value.B).toString('base64')}`;
}

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
