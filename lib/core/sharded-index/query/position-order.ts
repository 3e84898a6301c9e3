import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { FanOutOrder } from '../../fan-out/page-request';
import type { TotalOrder } from '../../fan-out/total-order';
import type { Direction } from '../../fan-out/value-range';
import { compareAttributeValues } from './attribute-order';

/**
 * The order of index items. A position may hold only the first attributes of a sort key: it is behind every item that
 * has them. Descending is the exact reverse of ascending. Unordered compares the shards alone. */
export function positionOrder(order: FanOutOrder, sortKeyAttributes: readonly string[]): TotalOrder<DynamoDbItem> {
  if (order === 'unordered') return { compare: (a, b) => a.shard - b.shard, behindAllShards: behindAllShards(order) };
  const direction = order === 'ascending' ? 1 : -1;
  return {
    compare: (a, b) =>
      compareSortKeys(sortKeyAttributes, direction, a.item, b.item) ||
      (a.shard === b.shard ? 0 : (a.shard - b.shard) * direction),
    behindAllShards: behindAllShards(order),
  };
}

/** The order in which DynamoDB returns the items of one shard. Items with equal sort keys come in any order. */
export function compareSortKeys(
  sortKeyAttributes: readonly string[],
  direction: Direction,
  a: DynamoDbItem,
  b: DynamoDbItem,
): number {
  for (const attribute of sortKeyAttributes) {
    const [left, right] = [a[attribute], b[attribute]];
    if (left === undefined || right === undefined) {
      if (left === right) break;
      return left === undefined ? 1 : -1;
    }
    const difference = compareAttributeValues(left, right);
    if (difference !== 0) return difference * direction;
  }
  return 0;
}

/** The number of a position behind the shards of an order: a descending order ends with the lowest shard. */
export function behindAllShards(order: FanOutOrder): number {
  return order === 'descending' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
