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
 * The smallest number of shards from which on the probability of an overloaded partition stays below `probability`, for
 * this number and every larger one. Use it to choose the shard count of an index. The result is exact, and proven for
 * all larger numbers:
 *
 * Let K be the number of shards, N the number of partitions and c = 1 + `overload`. A partition is overloaded above m =
 * floor(c K / N) shards. While m stays the same, one more shard can only raise the probability. So each m has its peak
 * at the largest K that gives it, K = ceil((m + 1) N / c) - 1. All K are below `probability` if and only if all peaks
 * are. The answer is the smallest K of the m after the last peak that is too high.
 *
 * The union bound and Chernoff's bound together give at most N exp(-K D), where D is the divergence of c/N from 1/N.
 * This falls with K, so no peak beyond K = ln(N / `probability`) / D can be too high. The search goes down from there.
 * A range of several m is below `probability` if its last K is with its first m, because that is harder than each of
 * its peaks. So the search can pass long ranges at once.
 *
 * For example, with 2, 4, 10 and 20 partitions, overload 0.5 and probability 5 %, it is 15, 70, 274 and 694. A common
 * rule of thumb, 10 N, would give 20, 40, 100 and 200.
 *
 * @param query the number of `partitions`, from 1 to 10,000, the `probability` to stay below, from 1e-9 to 0.999, and
 *   when a partition is overloaded
 * @throws InvalidArgumentError if a number is outside its bounds, or if more than 100,000 shards are needed
 */
export function shardsForOverload(query: { partitions: number; probability: number } & OverloadThreshold): number {
  const { partitions, probability } = query;
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  checkBetween('probability', probability, 1e-9, 0.999);
  return shardsAbove(1, partitions, probability, overloadFactor(query));
}

/**
 * The most shards that `shardsForOverload` asks for on any number of partitions between `fewest` and `partitions`, or `atLeast`
 * if none of them needs more. It is not always the largest number that needs the most: a partition holds only whole shards.
 * For example, with a utilization of 0.3 and a probability of 5 %, 33 partitions need 90 shards and 34 need 82.
 */
export function mostShardsForOverload(
  query: { fewest: number; partitions: number; probability: number; utilization: number },
  atLeast: number,
): number {
  const { fewest, partitions, probability } = query;
  const factor = overloadFactor({ utilization: query.utilization });
  let most = atLeast;
  // The bound grows with the number of partitions: the divergence is convex in its reciprocal, and zero at zero.
  for (let fewer = partitions; fewer >= fewest && provenBeyond(fewer, probability, factor) >= most; fewer--) {
    most = shardsAbove(most, fewer, probability, factor);
  }
  return most;
}

/**
 * Whether surely more than so many shards are needed. It is known at once: the first peak beyond them is too high by a lower bound
 * of its probability. False tells nothing.
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

/** The smallest number of shards as above, or `atLeast` if that is more. */
function shardsAbove(atLeast: number, partitions: number, probability: number, factor: number): number {
  const firstOf = (most: number) => ceilOf((most * partitions) / factor);
  const areBelow = (first: number, end: number) => isRarerThan(probability, first, firstOf(end) - 1, partitions);
  const reach = floorOf((MAX_PLANNED_SHARDS * factor) / partitions);
  if (!areBelow(reach, reach + 1)) {
    throw new InvalidArgumentError(
      'probability',
      probability,
      `a probability that at most ${MAX_PLANNED_SHARDS} shards can stay below`,
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

/** A number of shards that no peak beyond can be too high for: 0 if a partition can bear all shards. */
function provenBeyond(partitions: number, probability: number, factor: number): number {
  if (factor >= partitions) return 0;
  return Math.log(partitions / probability) / divergence(factor / partitions, 1 / partitions);
}

/** The Kullback-Leibler divergence of one coin from another. */
function divergence(a: number, b: number): number {
  return a * Math.log(a / b) + (1 - a) * Math.log((1 - a) / (1 - b));
}
