import { checkKeyNumber, HASH_KEY_SPACE, keysBelow } from '../stream-format/hash-key-space';

/**
 * The nth key (0-based) of the balanced order. The first m keys of this order are even: the lower half of the space
 * holds as many of them as the upper half, or one more or fewer. The same holds within each half, and so on.
 *
 * A `BalancedKeyAllocator` without ranges hands out keys in this order. This function is its closed form: within a
 * level of the tree, the path to the nth key is n with its bits reversed. Use it where owners have consecutive numbers
 * and never leave. If the number k of shards is a power of two, it puts at most ceil(m/k) of m owners on each shard.
 * For any other k, use the allocator with the ranges of the stream. Each key of the space comes once; the last one, for
 * `n = space - 1`, is always on the lowest level.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the examples of the article "Kinesis Hash Key Space
 *   Partitioning" use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidArgumentError if the space has no nth key
 */
export function balancedKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkKeyNumber(n, space);
  let rest = BigInt(n);
  let low = 0n;
  let high = space;
  for (;;) {
    const key = (low + high) >> 1n;
    if (rest === 0n) return key;
    rest -= 1n;
    // The halves take turns. The last key is in the upper half if that has one more.
    if (rest % 2n === 0n && rest < 2n * keysBelow(low, key)) high = key;
    else low = key;
    rest >>= 1n;
  }
}
