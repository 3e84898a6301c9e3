import { InvalidArgumentError } from '../foundation/errors';
import { moreThan } from './largest-load';
import { checkBetween, checkWhole } from './number-checks';
import { floorOf } from './rounding';

/** The most shards that overload is computed for, exactly; more are refused. */
export const MAX_PLANNED_SHARDS = 100_000;

/** The most partitions that overload is computed for, exactly; more are refused. */
export const MAX_PLANNED_PARTITIONS = 10_000;

/** What counts as an overloaded partition: give one of them. */
export interface OverloadThreshold {
  /**
   * By how much a partition may exceed its fair share: 0.5 calls a partition overloaded that holds more than 1.5 times
   * as many shards as there are for each. From 0.01 to 1,000.
   *
   * @default 0.5
   */
  overload?: number;
  /**
   * How busy the partitions are on average, above 0 and at most 0.99: a partition is then overloaded above 1 / u times
   * its fair share, which is where its throughput limit lies.
   *
   * @default - `overload` says it
   */
  utilisation?: number;
}

/**
 * The probability that some partition is overloaded when equal shards are placed independently and uniformly, as
 * DynamoDB places partition keys by their hash.
 *
 * Exact: the tail of the multinomial maximum by dynamic programming, right to about 12 digits, up to 100,000 shards
 * and 10,000 partitions. It is an upper bound on trouble in so far as DynamoDB splits hot partitions after a while.
 *
 * It is not monotonic in the shards, since a partition holds whole shards only; see `shardsForOverload`.
 *
 * @param query the number of `shards` and of `partitions`, and what counts as overloaded: more than (1 + `overload`)
 *   times the fair share of shards / partitions
 * @throws InvalidArgumentError for a number outside its bounds
 */
export function overloadProbability(query: { shards: number; partitions: number } & OverloadThreshold): number {
  const { shards, partitions } = query;
  checkWhole('shards', shards, 1, MAX_PLANNED_SHARDS);
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  return moreThan(floorOf((overloadFactor(query) * shards) / partitions), shards, partitions);
}

/** How many times its fair share a partition bears. */
export function overloadFactor({ overload, utilisation }: OverloadThreshold): number {
  if (utilisation === undefined) {
    if (overload !== undefined) checkBetween('overload', overload, 0.01, 1_000);
    return 1 + (overload ?? 0.5);
  }
  if (overload !== undefined) {
    throw new InvalidArgumentError('overload', overload, 'absent when utilisation is given, which implies it');
  }
  if (!(typeof utilisation === 'number' && utilisation > 0 && utilisation <= 0.99)) {
    throw new InvalidArgumentError('utilisation', utilisation, 'a number above 0 and at most 0.99');
  }
  return 1 / utilisation;
}
