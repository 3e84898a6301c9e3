import { checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/**
 * How many of `shards` each value of an index gets, in proportion to its share of the writes. Each number is rounded up
 * and is at least 1, so no shard is busier than it would be if all values shared all shards evenly.
 *
 * Use it for an attribute with few values of unequal traffic. Five values with 35, 35, 10, 10 and 10 percent of the
 * writes get 35, 35, 10, 10 and 10 of 100 shards (the example of the article "GSI Sharding in DynamoDB"). Rounding up
 * can add one shard for each value. A value with little traffic has one shard, so its pages ask only that shard.
 *
 * @param index its `shards` for all values together, before rounding, a whole number from 1 to 100,000, and the
 *   `shares` of the writes that each value has, in any unit, such as percent, records or writes a second
 * @returns the number of shards of each value
 * @throws InvalidArgumentError unless every share is a number of at least 0, and at least one of them is above 0
 */
export function weightedShards({
  shards,
  shares,
}: {
  shards: number;
  shares: Readonly<Record<string, number>>;
}): Record<string, number> {
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  const values = Object.entries(shares);
  for (const [value, share] of values) {
    if (!(Number.isFinite(share) && share >= 0)) {
      throw new InvalidArgumentError(`shares[${JSON.stringify(value)}]`, share, 'a number of at least 0');
    }
  }
  const total = values.reduce((sum, [, share]) => sum + share, 0);
  if (total === 0) throw new InvalidArgumentError('shares', shares, 'an object with at least one share above 0');
  return Object.fromEntries(values.map(([value, share]) => [value, Math.max(1, ceilOf((shards * share) / total))]));
}
