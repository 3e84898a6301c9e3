import { InvalidArgumentError, InvalidHashKeyError, InvalidHashKeyRangesError } from '../errors';
import { checkShardCount, MAX_STREAM_SHARDS } from '../shard-count';
import { HASH_KEY_SPACE } from './hash-key-space';

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

function checkSpace(space: unknown): void {
  if (typeof space !== 'bigint' || space < 1n || space > HASH_KEY_SPACE) {
    throw new InvalidArgumentError('space', space, 'a bigint from 1 to 2^128');
  }
}
