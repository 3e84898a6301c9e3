import type { HashKeyRange } from '../foundation/hash-key-ranges';
import { MAX_SKEW } from './thresholds';

/**
 * How many times the mean the widest shard holds: 1 is perfectly even. Under keys that a hash spreads, it is how many
 * times the mean load the hottest shard bears, so a stream of `n` shards does the work of `n / skew`.
 */
export function skewOf(ranges: readonly HashKeyRange[]): number {
  const widths = ranges.map(widthOf);
  const space = widths.reduce((sum, width) => sum + width, 0n);
  const widest = widths.reduce((a, b) => (a > b ? a : b), 0n);
  return Number((widest * BigInt(ranges.length) * 1_000_000n) / space) / 1_000_000;
}

export function areShardsEven(ranges: readonly HashKeyRange[]): boolean {
  return skewOf(ranges) <= MAX_SKEW;
}

export function widthOf({ startingHashKey, endingHashKey }: HashKeyRange): bigint {
  return endingHashKey - startingHashKey + 1n;
}
