import { checkPositive, checkWhole } from './number-checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/** The kilobytes of one read unit, which an eventually consistent read, as all of an index are, has at half the price. */
const READ_UNIT_KB = 4;

/**
 * The read units that one page of an ordered fan-out query takes, if one wave of requests is enough: each shard is asked
 * for its mean share of the page and two standard deviations more, and DynamoDB rounds what a request reads up to 4 KB.
 * Never less than half a unit for every shard, which is the price of shards on the reading side.
 *
 * @param query the `shards` of the value that is queried, the `items` of a page, and the size of one in `itemKb`
 * @throws InvalidArgumentError for a number outside its bounds
 */
export function readUnitsPerPage({ shards, items, itemKb }: { shards: number; items: number; itemKb: number }): number {
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('items', items, 1, 10_000);
  checkPositive('itemKb', itemKb);
  const share = items / shards;
  const asked = shards === 1 ? items : Math.min(items, Math.ceil(share + 2 * Math.sqrt(share)) + 1);
  return (shards * Math.max(1, ceilOf((asked * itemKb) / READ_UNIT_KB))) / 2;
}
