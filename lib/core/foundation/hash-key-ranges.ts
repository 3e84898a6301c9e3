import { InvalidHashKeyError, InvalidHashKeyRangesError } from './errors';
import { checkSpace, HASH_KEY_SPACE } from './hash-key-space';
import { checkShardCount, MAX_STREAM_SHARDS } from './shard-count';

/** The hash keys one shard holds, both ends inclusive, as Kinesis reports them. */
export interface HashKeyRange {
  startingHashKey: bigint;
  endingHashKey: bigint;
}

/**
 * The ranges a new stream of `shardCount` shards has: `floor(space / shardCount)` keys each, the last takes the rest.
 *
 * Use it to reason about a stream that was created with this count. A stream that was resharded may look different:
 * read its open shards with ListShards instead.
 *
 * @param space size of the key space; the seed's examples use 128
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000 that the space has room for
 */
export function uniformRanges(shardCount: number, space: bigint = HASH_KEY_SPACE): HashKeyRange[] {
  checkSpace(space);
  checkShardCount('shardCount', shardCount, Number(space < MAX_STREAM_SHARDS ? space : MAX_STREAM_SHARDS));
  const width = space / BigInt(shardCount);
  return Array.from({ length: shardCount }, (_, index) => ({
    startingHashKey: BigInt(index) * width,
    endingHashKey: index === shardCount - 1 ? space - 1n : BigInt(index + 1) * width - 1n,
  }));
}

/**
 * The index of the range that holds `hashKey`, by binary search.
 *
 * @param ranges contiguous and ascending, as `uniformRanges` returns them
 * @throws InvalidHashKeyRangesError if the search meets a gap, an overlap or no range at all
 * @throws InvalidHashKeyError if the key lies outside every range
 */
export function shardIndexOf(hashKey: bigint, ranges: readonly HashKeyRange[]): number {
  const first = ranges[0];
  const last = ranges[ranges.length - 1];
  if (first === undefined || last === undefined) {
    throw new InvalidHashKeyRangesError('ranges', ranges, 'at least one hash key range');
  }
  if (typeof hashKey !== 'bigint' || hashKey < first.startingHashKey || hashKey > last.endingHashKey) {
    throw new InvalidHashKeyError('hashKey', hashKey, `from ${first.startingHashKey} to ${last.endingHashKey}`);
  }
  let low = 0;
  let high = ranges.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hashKey <= ranges[middle]!.endingHashKey) high = middle;
    else low = middle + 1;
  }
  if (hashKey < ranges[low]!.startingHashKey) {
    throw new InvalidHashKeyRangesError(
      'ranges',
      ranges,
      `contiguous and ascending, but ${hashKey} is in none of them`,
    );
  }
  return low;
}

/**
 * A copy of `ranges` in ascending order, which may come in any: ListShards lists a resharded stream's by shard id.
 *
 * @param space size of the key space they must cover from 0, each key once
 * @default space is where the last range ends
 * @throws InvalidHashKeyRangesError if there is no range, if they leave a gap or overlap, or miss an end of the space
 */
export function coveringRanges(field: string, ranges: readonly HashKeyRange[], space?: bigint): HashKeyRange[] {
  const fail = (allowed: string): never => {
    throw new InvalidHashKeyRangesError(field, ranges, allowed);
  };
  if (!Array.isArray(ranges) || ranges.length === 0) fail('at least one hash key range');
  const ends = ranges.flatMap((range) => [range?.startingHashKey, range?.endingHashKey]);
  if (!ends.every((end) => typeof end === 'bigint')) fail('ranges from a startingHashKey to an endingHashKey, bigints');
  const ascending = ranges.toSorted((a, b) => (a.startingHashKey < b.startingHashKey ? -1 : 1));
  let next = 0n;
  for (const { startingHashKey, endingHashKey } of ascending) {
    if (startingHashKey !== next || endingHashKey < startingHashKey) {
      fail(`contiguous from 0, without a gap or an overlap, but ${next} is not the first key of exactly one range`);
    }
    next = endingHashKey + 1n;
  }
  if (next > HASH_KEY_SPACE || (space !== undefined && next !== space)) {
    fail(`contiguous from 0 to ${(space ?? HASH_KEY_SPACE) - 1n}, but the last one ends at ${next - 1n}`);
  }
  return ascending;
}
