import { InvalidArgumentError } from '../foundation/errors';
import { checkSpace, HASH_KEY_SPACE } from '../foundation/hash-key-space';

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
  checkPosition(n, space);
  let rest = BigInt(n);
  let low = 0n;
  let high = space;
  for (;;) {
    const key = (low + high) >> 1n;
    if (rest === 0n) return key;
    rest -= 1n;
    const left = leftKeys(low, key);
    const right = high - key - 1n;
    const paired = left < right ? left : right;
    const goesLeft = rest < 2n * paired ? rest % 2n === 0n : left > right;
    rest = rest < 2n * paired ? rest >> 1n : rest - paired;
    if (goesLeft) high = key;
    else low = key;
  }
}

/**
 * The nth key (0-based) of a tree that is filled level by level, from left to right. This is the first order of the
 * article "Kinesis Hash Key Space Partitioning".
 *
 * Use it for comparison only: while a level fills, the lower half of the space holds up to twice as many keys as the
 * upper half. To allocate keys, use `balancedKey`.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the article's examples use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidArgumentError if the space has no nth key
 */
export function leftToRightKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkPosition(n, space);
  const level = levelOf(n);
  return keyAt(level, BigInt(n) + 1n - 2n ** level, space);
}

/**
 * The nth key (0-based) of a tree that is filled level by level: on each level first the left child of every parent,
 * then the right child of every parent. This is the second order of the article "Kinesis Hash Key Space Partitioning".
 *
 * Use it for comparison only: the two children of a parent stay even, but the left children come from left to right. So
 * while a level fills, the lower half of the space is ahead of the upper half. To allocate keys, use `balancedKey`.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the article's examples use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidArgumentError if the space has no nth key
 */
export function alternatingKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkPosition(n, space);
  const level = levelOf(n);
  const position = BigInt(n) + 1n - 2n ** level;
  const lefts = (keysOfLevel(level, space) + 1n) / 2n;
  return keyAt(level, position < lefts ? 2n * position : 2n * (position - lefts) + 1n, space);
}

/** The key at a position, from the left, among the keys of one level of the tree. */
function keyAt(level: bigint, position: bigint, space: bigint): bigint {
  let low = 0n;
  let high = space;
  let rest = position;
  for (let below = level; below > 0n; below -= 1n) {
    const key = (low + high) >> 1n;
    const left = keysOfLevel(below - 1n, leftKeys(low, key));
    if (rest < left) {
      high = key;
    } else {
      low = key;
      rest -= left;
    }
  }
  return (low + high) >> 1n;
}

/** Halving keeps a tree of any size even: every level of the tree is full, except the last one. */
function keysOfLevel(level: bigint, keys: bigint): bigint {
  const full = 2n ** level;
  const left = keys - (full - 1n);
  return left < full ? left : full;
}

/**
 * How many keys from `low` to below `key` belong to no ancestor. `low` belongs to one, unless the space starts there.
 */
function leftKeys(low: bigint, key: bigint): bigint {
  return low === 0n ? key : key - low - 1n;
}

function levelOf(n: number): bigint {
  return BigInt((BigInt(n) + 1n).toString(2).length - 1);
}

function checkPosition(n: unknown, space: bigint): void {
  checkSpace(space);
  if (!Number.isSafeInteger(n) || (n as number) < 0 || (n as number) >= space) {
    throw new InvalidArgumentError('n', n, `a whole number from 0 to ${space - 1n} and at most 2^53 - 1`);
  }
}
