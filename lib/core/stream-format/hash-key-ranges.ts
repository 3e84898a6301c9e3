import { binarySearch } from '../kernel/binary-search';
import { InvalidHashKeyError, InvalidHashKeyRangesError } from '../kernel/errors';
import { checkStreamShardCount, MAX_STREAM_SHARDS } from '../sharding/shard-count';
import { checkSpace, HASH_KEY_SPACE } from './hash-key-space';

/** The hash keys that one shard holds. Both ends are inclusive, as Kinesis reports them. */
export interface HashKeyRange {
  startingHashKey: bigint;
  endingHashKey: bigint;
}

/**
 * The ranges of a new stream with `shardCount` shards. Each range holds `floor(space / shardCount)` keys, and the last range also
 * contains the remaining keys. The ranges are in ascending order.
 *
 * Use it for a stream that was created with this shard count and was never resharded. For other streams, read the open shards
 * with ListShards.
 *
 * @param space size of the key space, from 1 to 2^128; the examples of the article "Kinesis Hash Key Space Partitioning" use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000, and not larger than the space
 */
export function uniformRanges(shardCount: number, space: bigint = HASH_KEY_SPACE): HashKeyRange[] {
  checkSpace(space);
  checkStreamShardCount('shardCount', shardCount, Math.min(Number(space), MAX_STREAM_SHARDS));
  const width = space / BigInt(shardCount);
  return Array.from({ length: shardCount }, (_, index) => ({
    startingHashKey: BigInt(index) * width,
    endingHashKey: index === shardCount - 1 ? space - 1n : BigInt(index + 1) * width - 1n,
  }));
}

/**
 * The 0-based index of the range that contains `hashKey`, by binary search. Use it to find the shard of a record.
 *
 * @param ranges contiguous and ascending, as `uniformRanges` returns them
 * @throws InvalidHashKeyRangesError if `ranges` is empty, or the search finds a gap or an overlap
 * @throws InvalidHashKeyError if the key is below the first range or above the last range
 */
export function shardIndexOf(hashKey: bigint, ranges: readonly HashKeyRange[]): number {
  const [first] = ranges;
  if (first === undefined) throw new InvalidHashKeyRangesError('ranges', ranges, 'at least one hash key range');
  const last = ranges.at(-1)!;
  if (typeof hashKey !== 'bigint' || hashKey < first.startingHashKey || hashKey > last.endingHashKey) {
    const allowed = `a bigint from ${first.startingHashKey} to ${last.endingHashKey}`;
    throw new InvalidHashKeyError('hashKey', hashKey, allowed);
  }
  const found = binarySearch(0, ranges.length - 1, (index) => hashKey <= ranges[index]!.endingHashKey);
  if (hashKey < ranges[found]!.startingHashKey) {
    throw new InvalidHashKeyRangesError('ranges', ranges, `contiguous and ascending (no range contains ${hashKey})`);
  }
  return found;
}

/**
 * Sorts `ranges` in ascending order and checks that they cover the space. Use it for a response of ListShards: the shards are in
 * the order of their ids, and after a reshard, the order of their hash keys is different.
 *
 * @param space size of the key space; each key from 0 to `space - 1` must be in exactly one range
 * @default space ends where the last range ends
 * @throws InvalidHashKeyRangesError if there is no range, if the ranges leave a gap or overlap, or if they do not cover the whole
 *   space
 */
export function coveringRanges(ranges: readonly HashKeyRange[], space?: bigint): HashKeyRange[] {
  const fail = (allowed: string): never => {
    throw new InvalidHashKeyRangesError('ranges', ranges, allowed);
  };
  if (!Array.isArray(ranges) || ranges.length === 0) fail('at least one hash key range');
  const ends = ranges.flatMap((range) => [range?.startingHashKey, range?.endingHashKey]);
  if (!ends.every((end) => typeof end === 'bigint'))
    fail('ranges with a startingHashKey and an endingHashKey, both bigints');
  const ascending = ranges.toSorted((a, b) => Number(a.startingHashKey - b.startingHashKey));
  let next = 0n;
  for (const { startingHashKey, endingHashKey } of ascending) {
    if (startingHashKey !== next || endingHashKey < startingHashKey) {
      fail(`contiguous from 0, without a gap or an overlap (exactly one range must start at ${next})`);
    }
    next = endingHashKey + 1n;
  }
  if (next > HASH_KEY_SPACE || (space !== undefined && next !== space)) {
    fail(`contiguous from 0 to ${(space ?? HASH_KEY_SPACE) - 1n} (the last range ends at ${next - 1n})`);
  }
  return ascending;
}
