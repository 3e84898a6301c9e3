import { compareAttributeValues } from './attribute-order';
import type { FanOutOrder } from './fan-out-request';
import type { Item } from './query-client';

/**
 * Where an item stands in the answer over all shards: by its sort key, then by its shard, then as its shard has it.
 * The last of these is the store's own and cannot be compared, only continued.
 */
export interface Position<T = Item> {
  item: T;
  shard: number;
}

export type ComparePositions<T = Item> = (a: Position<T>, b: Position<T>) => number;

/** The order of a query over all shards. */
export interface TotalOrder<T = Item> {
  /** 0 for two items of one shard with one sort key, and only for them. */
  compare: ComparePositions<T>;
  /** A shard number behind all others: with it, a position stands behind every item of its sort key. */
  behindAllShards: number;
}

/** The order of index items. Descending is the exact reverse of ascending, unordered goes by shard alone. */
export function positionOrder(order: FanOutOrder, sortKeyAttributes: readonly string[]): TotalOrder {
  if (order === 'unordered') {
    return { compare: (a, b) => a.shard - b.shard, behindAllShards: Number.POSITIVE_INFINITY };
  }
  const direction = order === 'ascending' ? 1 : -1;
  return {
    compare: (a, b) => {
      for (const attribute of sortKeyAttributes) {
        const difference = compareAttributeValues(a.item[attribute]!, b.item[attribute]!);
        if (difference !== 0) return difference * direction;
      }
      return a.shard === b.shard ? 0 : (a.shard - b.shard) * direction;
    },
    behindAllShards: direction * Number.POSITIVE_INFINITY,
  };
}
