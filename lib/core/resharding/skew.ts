import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { MAX_SKEW } from './thresholds';

/**
 * The number of hash keys of the widest shard, divided by the mean number of hash keys of a shard. The skew is 1 if all shards
 * are equally wide. If a hash spreads the records evenly over the key space, the hottest shard has `skew` times the mean load.
 * So n shards have the capacity of n / skew even shards.
 *
 * @param ranges the ranges of the open shards, in any order
 */
export function skewOf(ranges: readonly HashKeyRange[]): number {
  const widths = ranges.map(widthOf);
  const space = widths.reduce((sum, width) => sum + width, 0n);
  const widest = widths.reduce((a, b) => (a > b ? a : b));
  return Number((widest * BigInt(ranges.length) * 1_000_000n) / space) / 1_000_000;
}

/** Whether shards are even: their skew is at most `MAX_SKEW`, which is 1.05. */
export function areShardsEven(ranges: readonly HashKeyRange[]): boolean {
  return skewOf(ranges) <= MAX_SKEW;
}

export function widthOf({ startingHashKey, endingHashKey }: HashKeyRange): bigint {
  return endingHashKey - startingHashKey + 1n;
}
