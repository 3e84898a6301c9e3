import { compareAttributeValues } from './attribute-order';
import type { FanOutOrder } from './fan-out-request';
import type { Item } from './query-client';

/**
 * Where an item stands in the answer over all shards: by its sort key, then by its shard, then as its shard has it.
 * The last of these is DynamoDB's own and cannot be compared, only continued.
 */
export interface Position {
  item: Item;
  shard: number;
}

export type ComparePositions = (a: Position, b: Position) => number;

/**
 * The comparator of an order; 0 for two items of one shard with one sort key. Descending is the exact reverse of
 * ascending, unordered goes by shard alone.
 */
export function positionOrder(order: FanOutOrder, sortKeyAttributes: readonly string[]): ComparePositions {
  if (order === 'unordered') return (a, b) => a.shard - b.shard;
  const direction = order === 'ascending' ? 1 : -1;
  return (a, b) => {
    for (const attribute of sortKeyAttributes) {
      const difference = compareAttributeValues(a.item[attribute]!, b.item[attribute]!);
      if (difference !== 0) return difference * direction;
    }
    return (a.shard - b.shard) * direction;
  };
}
