import { checkBetween, checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { moreThan } from './largest-load';
import { floorOf } from './rounding';

/** The maximum number of shards for which the planner computes overload. */
export const MAX_PLANNED_SHARDS = 100_000;

/** The maximum number of partitions for which the planner computes overload. */
export const MAX_PLANNED_PARTITIONS = 10_000;

/** The threshold above which a partition is overloaded. Set either `overload` or `utilization`. */
export interface OverloadThreshold {
  /**
   * By how much a partition may exceed its fair share, from 0.01 to 1,000. With 0.5, a partition is overloaded if it
   * holds more than 1.5 times the mean number of shards.
   *
   * @default 0.5
   */
  overload?: number;
  /**
   * The average utilization of the partitions, greater than 0 and at most 0.99. With a utilization of u, a partition reaches its
   * throughput limit at 1 / u times its fair share, and is overloaded above that load.
   *
   * @default `overload` is the threshold
   */
  utilization?: number;
}

/**
 * The probability that at least one partition is overloaded. The computation assumes that shards have equal loads and are
 * placed independently and uniformly, as DynamoDB places partition keys by their hash. Use it to judge a given number of
 * shards; to find the number of shards, use `shardsForOverload`.
 *
 * The result is exact to about 12 digits for up to 100,000 shards and 10,000 partitions. It is the tail of the multinomial
 * maximum, computed by dynamic programming. In practice the result is an upper bound, because DynamoDB splits hot partitions
 * after some time.
 *
 * More shards can increase the probability, because a partition holds only whole shards.
 *
 * @param query the number of `shards` (1 to 100,000), the number of `partitions` (1 to 10,000), and the threshold. The fair
 *   share of a partition is shards / partitions, and a partition is overloaded above (1 + `overload`) times its fair share
 * @returns a probability from 0 to 1
 * @throws InvalidArgumentError if a number is outside its bounds
 */
export function overloadProbability(query: { shards: number; partitions: number } & OverloadThreshold): number {
  const { shards, partitions } = query;
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  return moreThan(floorOf((overloadFactor(query) * shards) / partitions), shards, partitions);
}

/** The threshold as a multiple of the fair share of a partition. */
export function overloadFactor({ overload, utilization }: OverloadThreshold): number {
  if (utilization === undefined) {
    if (overload !== undefined) checkBetween('overload', overload, 0.01, 1_000);
    return 1 + (overload ?? 0.5);
  }
  if (overload !== undefined) {
    throw new InvalidArgumentError(
      'overload',
      overload,
      'absent if utilization is set, because utilization determines the overload',
    );
  }
  if (!(typeof utilization === 'number' && utilization > 0 && utilization <= 0.99)) {
    throw new InvalidArgumentError('utilization', utilization, 'a number above 0 and at most 0.99');
  }
  return 1 / utilization;
}
