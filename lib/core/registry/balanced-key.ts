import { checkKeyNumber, HASH_KEY_SPACE, keysBelow } from '../stream-format/hash-key-space';

/**
 * The nth key (0-based) of the balanced order. For each m, the first m keys are spread evenly: both halves of the space have the
 * same number of these keys, plus or minus one. The same is true within each half, and so on.
 *
 * A `BalancedKeyAllocator` without ranges allocates keys in this order. This function needs no allocator. Use it if owners have
 * consecutive numbers and are never removed. If the number k of shards is a power of two, each shard gets at most ceil(m/k) of m
 * owners. For any other k, use the allocator with the ranges of the stream.
 *
 * The order contains each key of the space once. Within a level of the tree of keys, the path to the nth key is n with its bits
 * reversed.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the examples of the article "Kinesis Hash Key Space Partitioning" use 128
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
    // The keys alternate between the halves. The last key is in the upper half if that half has one key more.
    if (rest % 2n === 0n && rest < 2n * keysBelow(low, key)) high = key;
    else low = key;
    rest >>= 1n;
  }
}
