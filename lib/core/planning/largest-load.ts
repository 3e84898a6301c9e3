import { binarySearch } from '../kernel/binary-search';
import { binomialMean, binomialTail, likelyOutcomes } from './binomial';

/** A probability for each number of shards. The first probability is for `first` shards. */
interface Table {
  first: number;
  values: Float64Array;
}

/**
 * The probability that at least one partition gets more than `most` shards, if each shard is placed independently and
 * uniformly. It is the upper tail of the maximum of a multinomial distribution.
 *
 * The partitions are split into two halves. An odd number of partitions is split into one partition and all other partitions. The
 * number of shards in the first half has a binomial distribution. Given that number, both halves are independent problems of the
 * same kind. Let f(n, k) be the probability for k shards on n partitions:
 *
 *     f(1, k) = 1 if k > most, else 0
 *     f(a + b, k) = mean over j drawn from Binomial(k, a / (a + b)) of f(a, j) + (1 - f(a, j)) * f(b, k - j)
 *
 * Every term is positive and every step is an average, so rounding errors do not grow. Small probabilities keep their relative
 * precision. Each sum has about sqrt(k) likely values of j, and there are about 2 log2(n) levels.
 */
export function moreThan(most: number, shards: number, partitions: number): number {
  return tableOf(partitions, shards, shards, most).values[0]!;
}

/**
 * Whether the probability that any partition has more than `most` shards is less than `probability`. The counts of a
 * multinomial distribution are negatively associated. So if p is the probability for one partition, the probability for
 * N partitions is at least 1 - (1 - p)^N and at most N p. Usually these bounds are sufficient; otherwise the exact
 * probability is computed. Source of the lower bound: Mallows, "An Inequality Involving Multinomial Probabilities",
 * 1968.
 */
export function isRarerThan(probability: number, most: number, shards: number, partitions: number): boolean {
  const ofOne = binomialTail(shards, 1 / partitions, most);
  if (partitions * ofOne < probability) return true;
  if (leastOverload(ofOne, partitions) >= probability) return false;
  return moreThan(most, shards, partitions) < probability;
}

/** The lower bound of the probability for all partitions together, from the probability for one partition. */
export function leastOverload(ofOne: number, partitions: number): number {
  return -Math.expm1(partitions * Math.log1p(-ofOne));
}

/** The smallest number of shards that the busiest partition exceeds with a probability below `probability`. */
export function likelyMost(shards: number, partitions: number, probability: number): number {
  return binarySearch(1, shards, (most) => isRarerThan(probability, most, shards, partitions));
}

/** f(partitions, k) for all k from `first` to `last`. */
function tableOf(partitions: number, first: number, last: number, most: number): Table {
  if (partitions === 1) return { first, values: Float64Array.from(range(first, last), (k) => Number(k > most)) };
  const left = partitions % 2 === 0 ? partitions / 2 : 1;
  const right = partitions - left;
  const share = left / partitions;
  const inLeft = likelyBetween(first, last, share);
  const inRight = likelyBetween(first, last, 1 - share);
  const ofLeft = tableOf(left, inLeft.first, inLeft.last, most);
  const ofRight = left === right ? ofLeft : tableOf(right, inRight.first, inRight.last, most);

  const values = Float64Array.from(range(first, last), (k) => {
    const overloaded = (j: number) => {
      const onLeft = ofLeft.values[j - inLeft.first]!;
      return onLeft + (1 - onLeft) * ofRight.values[k - j - inRight.first]!;
    };
    return binomialMean(k, share, overloaded);
  });
  return { first, values };
}

/**
 * The first and the last outcome that is not negligible for at least one number of draws from `first` to `last`. Small outcomes
 * are most likely with the fewest draws, and large outcomes with the most draws.
 */
function likelyBetween(first: number, last: number, p: number): { first: number; last: number } {
  return { first: likelyOutcomes(first, p).first, last: likelyOutcomes(last, p).last };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
