import { ItemSizes } from '../fan-out/item-sizes';
import { readSize } from '../fan-out/read-size';
import { checkPositive, checkWhole } from '../kernel/checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/**
 * A consistent read of this many kilobytes takes one read unit, and an eventually consistent read takes half a read unit. All
 * reads of an index are eventually consistent.
 */
export const READ_UNIT_KB = 4;

/**
 * Computes the read units of the first wave of one page of an ordered fan-out query. Most pages have only one wave. Use
 * it to estimate the read cost of shards: a page costs at least half a unit per shard.
 *
 * The function assumes that the query reads each shard with the item limit that `fanOutQuery` uses when it knows the item sizes.
 * DynamoDB rounds the size of each read up to a multiple of 4 KB.
 *
 * @param query the number of `shards` of the queried value, the number of `items` of a page, and the size of an item in
 *   `itemKb`
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function readUnitsPerPage({ shards, items, itemKb }: { shards: number; items: number; itemKb: number }): number {
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('items', items, 1, 10_000);
  checkPositive('itemKb', itemKb);
  const itemsPerShard = readSize(items, shards, new ItemSizes(itemKb * 1_024));
  return (shards * Math.max(1, ceilOf((itemsPerShard * itemKb) / READ_UNIT_KB))) / 2;
}
