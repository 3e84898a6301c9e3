import { binomialMean, binomialTail, likelyOutcomes } from './binomial';

/** Probabilities for the numbers of shards from `first` on. */
interface Table {
  first: number;
  values: Float64Array;
}

/**
 * The probability that at least one of `partitions` gets more than `most` of `shards`, if each shard is placed
 * independently and each partition is equally likely. It is the upper tail of the maximum of a multinomial
 * distribution.
 *
 * The partitions are split into two halves (or, if their number is odd, into one and the others). The number of shards
 * that fall into the first half is binomial. Given that number, the halves are independent problems of the same kind.
 * With f(n, k) for k shards on n partitions:
 *
 *     f(1, k) = 1 if k > most, else 0
 *     f(a + b, k) = mean over j drawn from Binomial(k, a / (a + b)) of f(a, j) + (1 - f(a, j)) * f(b, k - j)
 *
 * Every term is positive and every step is an average, so errors are averaged too and do not grow. Small probabilities
 * keep their relative precision. The sum runs only over the likely j, which are about the square root of k, for about
 * 2 log2(n) levels.
 */
export function moreThan(most: number, shards: number, partitions: number): number {
  return tableOf(partitions, shards, shards, most).values[0]!;
}

/**
 * Whether more than `most` shards on any partition are less likely than `probability`. The counts of a multinomial are
 * negatively associated. So if p is the probability for one partition, the probability for any of N is between 1 - (1 -
 * p)^N (Mallows, "An Inequality Involving Multinomial Probabilities", 1968) and N p. Mostly these bounds decide;
 * otherwise the probability is computed.
 */
export function isRarerThan(probability: number, most: number, shards: number, partitions: number): boolean {
  const ofOne = binomialTail(shards, 1 / partitions, most);
  if (partitions * ofOne < probability) return true;
  if (leastOverload(ofOne, partitions) >= probability) return false;
  return moreThan(most, shards, partitions) < probability;
}

/** The least probability for any partition, if this is the probability for one. */
export function leastOverload(ofOne: number, partitions: number): number {
  return -Math.expm1(partitions * Math.log1p(-ofOne));
}

/** The number of shards that the busiest partition exceeds with at most `probability`. */
export function likelyMost(shards: number, partitions: number, probability: number): number {
  return smallestUpTo(shards, (most) => isRarerThan(probability, most, shards, partitions));
}

/** The smallest number from 1 to `largest` for which something holds that holds for `largest`, and for whatever is above one for which it does. */
export function smallestUpTo(largest: number, holds: (number: number) => boolean): number {
  let tooSmall = 0;
  let found = largest;
  while (found - tooSmall > 1) {
    const middle = Math.floor((tooSmall + found) / 2);
    if (holds(middle)) found = middle;
    else tooSmall = middle;
  }
  return found;
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
 * The outcomes that are likely for any number of draws from `first` to `last`. The more draws, the less likely is an outcome below
 * the mean beside the mean, and the more likely is one above it. The likely outcomes of the others are those that are left.
 */
function likelyBetween(first: number, last: number, p: number): { first: number; last: number } {
  return { first: likelyOutcomes(first, p).first, last: likelyOutcomes(last, p).last };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
