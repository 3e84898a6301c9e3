import { hash } from 'node:crypto';
import { InvalidArgumentError } from '../kernel/errors';
import { checkIndexShardCount } from './shard-count';

/**
 * The 0-based shard of an id: the jump consistent hash of a 64-bit key. This key is the first 64 bits of the MD5 of the id's
 * UTF-8 bytes.
 *
 * The same id always gives the same shard. So an item that is written again stays in its shard, and a change of the count from
 * n to n + 1 moves only 1 / (n + 1) of the ids. Use this function for items that change, and for items that readers get by id.
 * You can compute the shard in any language: `docs/calculated-shard-vectors.json` has test vectors.
 *
 * Source of the placement: Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014.
 *
 * @throws InvalidArgumentError if the id is not a string
 * @throws InvalidShardCountError if the count is not an integer from 1 to 10,000
 */
export function calculatedShard(id: string, shardCount: number): number {
  if (typeof id !== 'string') throw new InvalidArgumentError('id', id, 'a string');
  checkIndexShardCount('shardCount', shardCount);
  return jumpConsistentHash(hashOfId(id), shardCount);
}

/**
 * The different shards of an id for all counts from `least` to `most`, in ascending order. The last element is the shard for
 * `most` shards. If the count grows by one, an id stays in its shard or moves to the new shard, so the list is short.
 */
export function calculatedShards(id: string, least: number, most: number): number[] {
  let shards: number[] = [];
  for (const bucket of jumps(hashOfId(id), most)) shards = bucket < least ? [bucket] : [...shards, bucket];
  return shards;
}

/** The first 64 bits of the MD5 of an id's UTF-8 bytes. */
export function hashOfId(id: string): bigint {
  return hash('md5', id, 'buffer').readBigUInt64BE();
}

/** The multiplier of the paper's 64-bit linear congruential generator. */
const LCG_MULTIPLIER = 2862933555777941757n;

/** The bucket of a 64-bit key. */
export function jumpConsistentHash(key: bigint, buckets: number): number {
  return [...jumps(key, buckets)].at(-1)!;
}

/** The buckets to which a key jumps while the number of buckets grows to `buckets`. */
function* jumps(key: bigint, buckets: number): Generator<number> {
  let state = key;
  let bucket = 0;
  while (bucket < buckets) {
    yield bucket;
    state = BigInt.asUintN(64, state * LCG_MULTIPLIER + 1n);
    bucket = Math.floor((bucket + 1) * (2 ** 31 / (Number(state >> 33n) + 1)));
  }
}
