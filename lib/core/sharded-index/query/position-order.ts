import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { FanOutOrder } from '../../fan-out/page-request';
import type { TotalOrder } from '../../fan-out/total-order';
import type { Direction } from '../../fan-out/value-range';
import { compareAttributeValues } from './attribute-order';

/**
 * The order of index items. A position may hold only the first attributes of a sort key. The position then comes after every
 * item with the same values of these attributes. Descending order is the exact reverse of ascending order. The order
 * `unordered` compares only the shards.
 */
export function positionOrder(order: FanOutOrder, sortKeyAttributes: readonly string[]): TotalOrder<DynamoDbItem> {
  if (order === 'unordered') return { compare: (a, b) => a.shard - b.shard, afterAllShards: afterAllShards(order) };
  const direction = order === 'ascending' ? 1 : -1;
  return {
    compare: (a, b) =>
      compareSortKeys(sortKeyAttributes, direction, a.item, b.item) ||
      (a.shard === b.shard ? 0 : (a.shard - b.shard) * direction),
    afterAllShards: afterAllShards(order),
  };
}

/** Compares two items of one shard in DynamoDB's order. The order of items with equal sort keys is undefined. */
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

/** The shard number of a position after all shards. */
export function afterAllShards(order: FanOutOrder): number {
  return order === 'descending' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
