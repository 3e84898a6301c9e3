import { ItemSizes } from '../foundation/fan-out/item-sizes';
import { readSize } from '../foundation/fan-out/read-size';
import { checkPositive, checkWhole } from './number-checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/** The kilobytes of one read unit, which an eventually consistent read, as all of an index are, has at half the price. */
const READ_UNIT_KB = 4;

/**
 * The read units that one page of an ordered fan-out query takes in its first wave of requests, which mostly is the only
 * one: each shard is asked for as many items as `fanOutQuery` asks it for once it knows their size, and DynamoDB rounds
 * what a request reads up to 4 KB. Never less than half a unit for every shard: the price of shards on the reading side.
 *
 * @param query the `shards` of the value that is queried, the `items` of a page, and the size of one in `itemKb`
 * @throws InvalidArgumentError for a number outside its bounds
 */
export function readUnitsPerPage({ shards, items, itemKb }: { shards: number; items: number; itemKb: number }): number {
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('items', items, 1, 10_000);
  checkPositive('itemKb', itemKb);
  const asked = Math.min(items, readSize(items, shards, new ItemSizes(itemKb * 1_024)) ?? items);
  return (shards * Math.max(1, ceilOf((asked * itemKb) / READ_UNIT_KB))) / 2;
}
