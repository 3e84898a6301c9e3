import { ItemSizes } from '../fan-out/item-sizes';
import { readSize } from '../fan-out/read-size';
import { checkPositive, checkWhole } from '../kernel/checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/** The kilobytes that one read unit reads consistently, and half a unit otherwise, as all reads of an index are. */
export const READ_UNIT_KB = 4;

/**
 * The read units that one page of an ordered fan-out query takes in its first wave of requests, which is mostly the
 * only one. Use it to see what shards cost readers: a page never takes less than half a unit for each shard.
 *
 * It assumes that the query asks each shard for as many items as `fanOutQuery` does once it knows the sizes of the
 * items. DynamoDB rounds up what a request reads to a multiple of 4 KB.
 *
 * @param query the `shards` of the value that is queried, the `items` of a page, and the size of one in `itemKb`
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function readUnitsPerPage({ shards, items, itemKb }: { shards: number; items: number; itemKb: number }): number {
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('items', items, 1, 10_000);
  checkPositive('itemKb', itemKb);
  const asked = readSize(items, shards, new ItemSizes(itemKb * 1_024));
  return (shards * Math.max(1, ceilOf((asked * itemKb) / READ_UNIT_KB))) / 2;
}
