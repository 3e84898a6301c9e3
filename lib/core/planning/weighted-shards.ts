import { checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { MAX_PLANNED_SHARDS } from './overload-probability';
import { ceilOf } from './rounding';

/**
 * Divides shards among the values of an index, in proportion to their shares of the writes. The number of shards of each value is
 * rounded up, and is at least 1. So the writes to each shard are at most the total writes divided by `shards`.
 *
 * Use it for an attribute with few values of unequal traffic. For example, five values with 35, 35, 10, 10 and 10
 * percent of the writes get 35, 35, 10, 10 and 10 of 100 shards. (The example is from the article "GSI Sharding in
 * DynamoDB".) Rounding up can add one shard per value. A value with little traffic has one shard, so its pages read
 * only one shard.
 *
 * @param index the number of `shards` of all values together before rounding, an integer from 1 to 100,000. Also the share of
 *   each value in the writes, in any unit, such as percent, records or writes per second
 * @returns the number of shards of each value
 * @throws InvalidArgumentError if a share is not a number of at least 0, or if all shares are 0
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
