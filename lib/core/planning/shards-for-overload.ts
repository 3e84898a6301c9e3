import { InvalidArgumentError } from '../foundation/errors';
import { binomialTail } from './binomial';
import { moreThan } from './largest-load';
import { checkBetween, checkWhole } from './number-checks';
import {
  MAX_PLANNED_PARTITIONS,
  MAX_PLANNED_SHARDS,
  type OverloadThreshold,
  overloadFactor,
} from './overload-probability';
import { ceilOf, floorOf } from './rounding';

/**
 * The smallest number of shards from which on, however many more there are, the probability of an overloaded partition
 * stays below `probability`. Exact, and proven for all larger numbers:
 *
 * With c = 1 + `overload`, a partition is overloaded above m = floor(c K / N) shards. While m stays the same, one more
 * shard can only make it worse, so each m has its peak at the largest K that gives it, K = ceil((m + 1) N / c) - 1. All
 * K are below `probability` if and only if all peaks are, and the answer is where the m after the last bad peak begins.
 *
 * The union bound and Chernoff's give at most N exp(-K D), with D the divergence of c/N from 1/N, which falls with K: no
 * peak beyond K = ln(N / `probability`) / D needs a look. From there the search goes down. A stretch of several m is
 * below if its last K is with its first m, which is harder than each of its peaks; so long stretches are passed at once.
 *
 * Reference: for N = 2, 4, 10, 20, overload 0.5 and 5 %, it is 15, 70, 274, 694, where a rule of thumb says 10 N.
 *
 * @param query `partitions`, the `probability` to stay below (from 1e-9 to 0.999), and what counts as overloaded
 * @throws InvalidArgumentError for a number outside its bounds, or if more than 100,000 shards were needed
 */
export function shardsForOverload(query: { partitions: number; probability: number } & OverloadThreshold): number {
  const { partitions, probability } = query;
  checkWhole('partitions', partitions, 1, MAX_PLANNED_PARTITIONS);
  checkBetween('probability', probability, 1e-9, 0.999);
  const factor = overloadFactor(query);
  if (factor >= partitions) return 1;

  const firstOf = (most: number) => ceilOf((most * partitions) / factor);
  const areBelow = (first: number, end: number) => isBelow(probability, first, firstOf(end) - 1, partitions);
  const reach = floorOf((MAX_PLANNED_SHARDS * factor) / partitions);
  if (!areBelow(reach, reach + 1)) {
    throw new InvalidArgumentError(
      'probability',
      probability,
      `one that at most ${MAX_PLANNED_SHARDS} shards stay below`,
    );
  }

  const provenBeyond = Math.log(partitions / probability) / divergence(factor / partitions, 1 / partitions);
  let most = ceilOf((provenBeyond * factor) / partitions);
  for (let stretch = 1; stretch >= 1 && most > 0; ) {
    const first = Math.max(0, most - stretch);
    if (areBelow(first, most)) {
      most = first;
      stretch *= 2;
    } else {
      stretch = Math.floor(stretch / 2);
    }
  }
  return Math.max(1, firstOf(most));
}

/**
 * Whether more than `most` shards on one partition are less likely than `probability`. The counts of a multinomial are
 * negatively associated, so with p for one partition the probability lies between 1 - (1 - p)^N (Mallows, "An Inequality
 * Involving Multinomial Probabilities", 1968) and N p, which mostly decides. Otherwise it is computed.
 */
function isBelow(probability: number, most: number, shards: number, partitions: number): boolean {
  const ofOne = binomialTail(shards, 1 / partitions, most);
  if (partitions * ofOne < probability) return true;
  if (-Math.expm1(partitions * Math.log1p(-ofOne)) >= probability) return false;
  return moreThan(most, shards, partitions) < probability;
}

/** The Kullback-Leibler divergence of one coin from another. */
function divergence(a: number, b: number): number {
  return a * Math.log(a / b) + (1 - a) * Math.log((1 - a) / (1 - b));
}
