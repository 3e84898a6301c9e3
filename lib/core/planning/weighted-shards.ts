import { InvalidArgumentError } from '../foundation/errors';
import { checkWhole } from './number-checks';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/**
 * How many of `shards` each value of an index gets, in proportion to its share of the writes: rounded up, so that no
 * shard of any value is busier than it would be if all values were one, and at least 1.
 *
 * Use it for an attribute with few values of unequal weight. Five values that have 35, 35, 10, 10 and 10 percent of the
 * writes get 35, 35, 10, 10 and 10 of 100 shards (the example of "GSI Sharding in DynamoDB"). Rounding up can add one
 * shard for each value; a value with little traffic has one shard, and its pages ask no other.
 *
 * @param index its `shards` for all values together, before rounding, a whole number from 1 to 100,000, and the `shares`
 *   of the writes that each value has, in any unit: percent, records, writes a second
 * @throws InvalidArgumentError unless every share is a number of at least 0, and one of them above 0
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
  if (total === 0) throw new InvalidArgumentError('shares', shares, 'one share above 0 at least');
  return Object.fromEntries(values.map(([value, share]) => [value, Math.max(1, ceilOf((shards * share) / total))]));
}
