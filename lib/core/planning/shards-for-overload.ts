import { checkBetween, checkWhole } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { binomialTail } from './binomial';
import { isRarerThan, leastOverload } from './largest-load';
import {
  MAX_PLANNED_PARTITIONS,
  MAX_PLANNED_SHARDS,
  type OverloadThreshold,
  overloadFactor,
} from './overload-probability';
import { ceilOf, floorOf } from './rounding';

/**
 * Computes the smallest number of shards for which this number and every larger number are safe. A number is safe if the
 * probability of an overloaded partition is below `probability`. Use it to choose the shard count of an index. The result is
 * exact, and proven for all larger numbers:
 *
 * Let K be the number of shards, N the number of partitions and c = 1 + `overload`. A partition is overloaded above m = floor(c
 * K / N) shards. For a fixed m, one more shard can only increase the probability. So for each m, the probability is highest at
 * the largest number of shards with this m, K = ceil((m + 1) N / c) - 1. This highest probability is the peak of m.
 *
 * The probability for every K is below `probability` if and only if all peaks are below `probability`. If some peaks are too
 * high, let m be the largest m with such a peak: the result is the smallest K of m + 1.
 *
 * By the union bound and Chernoff's bound, the probability is at most N exp(-K D), where D is the divergence of c/N from 1/N.
 * This bound decreases with K, so every peak beyond K = ln(N / `probability`) / D is low enough. The search starts at this K
 * and goes down. To skip a range of several m in one step, the search tests the last K of the range with the first m. The
 * tested probability is an upper bound of all peaks of the range.
 *
 * For example, 2, 4, 10 and 20 partitions with overload 0.5 and probability 5 % need 15, 70, 274 and 694 shards. The common
 * rule of thumb 10 N would give 20, 40, 100 and 200.
 *
 * @param query the number of `partitions` (1 to 10,000), the highest allowed `probability` (1e-9 to 0.999), and the threshold
 *   of overload
 * @throws InvalidArgumentError if a number is outside its bounds, or if more than 100,000 shards are needed
 */
export function shardsForOverload(query: { partitions: number; probability: number } & OverloadThreshold): number {
  const { partitions, probability } = query;
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  checkBetween('probability', probability, 1e-9, 0.999);
  return shardsAbove(1, partitions, probability, overloadFactor(query));
}

/**
 * The largest result of `shardsForOverload` for all numbers of partitions from `fewest` to `partitions`, but at least
 * `atLeast`. More partitions can need fewer shards, because a partition holds only whole shards. For example, with a
 * utilization of 0.3 and a probability of 5 %, 33 partitions need 90 shards, and 34 partitions need 82.
 */
export function mostShardsForOverload(
  query: { fewest: number; partitions: number; probability: number; utilization: number },
  atLeast: number,
): number {
  const { fewest, partitions, probability } = query;
  const factor = overloadFactor({ utilization: query.utilization });
  let most = atLeast;
  // `provenBeyond` increases with the number of partitions, because the divergence is convex in 1 / partitions, and is 0 at 0.
  for (let fewer = partitions; fewer >= fewest && provenBeyond(fewer, probability, factor) >= most; fewer--) {
    most = shardsAbove(most, fewer, probability, factor);
  }
  return most;
}

/**
 * Whether more than `shards` shards are certainly needed. It is a fast check with a lower bound of the probability of
 * the next peak. If the result is false, more shards may still be needed.
 */
export function surelyNeedsMoreThan(
  shards: number,
  { partitions, probability, utilization }: { partitions: number; probability: number; utilization: number },
): boolean {
  const factor = overloadFactor({ utilization });
  const most = floorOf((shards * factor) / partitions);
  const peak = ceilOf(((most + 1) * partitions) / factor) - 1;
  return leastOverload(binomialTail(peak, 1 / partitions, most), partitions) >= probability;
}

/** The result of `shardsForOverload`, but at least `atLeast`. */
function shardsAbove(atLeast: number, partitions: number, probability: number, factor: number): number {
  const firstOf = (most: number) => ceilOf((most * partitions) / factor);
  const areBelow = (first: number, end: number) => isRarerThan(probability, first, firstOf(end) - 1, partitions);
  const reach = floorOf((MAX_PLANNED_SHARDS * factor) / partitions);
  if (!areBelow(reach, reach + 1)) {
    throw new InvalidArgumentError(
      'probability',
      probability,
      `higher (more than ${MAX_PLANNED_SHARDS} shards would be needed)`,
    );
  }

  const least = floorOf((atLeast * factor) / partitions);
  let most = ceilOf((provenBeyond(partitions, probability, factor) * factor) / partitions);
  for (let stretch = 1; stretch >= 1 && most > least; ) {
    const first = Math.max(least, most - stretch);
    if (areBelow(first, most)) {
      most = first;
      stretch *= 2;
    } else {
      stretch = Math.floor(stretch / 2);
    }
  }
  return Math.max(atLeast, firstOf(most));
}

/**
 * A number of shards above which every peak is proven to be low enough. The result is 0 if one partition can hold all shards
 * without overload.
 */
function provenBeyond(partitions: number, probability: number, factor: number): number {
  if (factor >= partitions) return 0;
  return Math.log(partitions / probability) / divergence(factor / partitions, 1 / partitions);
}

/** The Kullback-Leibler divergence of two Bernoulli distributions. */
function divergence(a: number, b: number): number {
  return a * Math.log(a / b) + (1 - a) * Math.log((1 - a) / (1 - b));
}
