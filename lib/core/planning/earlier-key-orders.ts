import { checkKeyNumber, HASH_KEY_SPACE, keysBelow } from '../stream-format/hash-key-space';

/**
 * The nth key (0-based) of a tree that is filled level by level, from left to right. This is the first order of the
 * article "Kinesis Hash Key Space Partitioning".
 *
 * Use it for comparison only: while a level fills, the lower half of the space holds up to twice as many keys as the
 * upper half. To allocate keys, use `balancedKey`.
 *
 * @param n an integer from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the article's examples use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidArgumentError if the space has no nth key
 */
export function leftToRightKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkKeyNumber(n, space);
  const level = levelOf(n);
  return keyAt(level, BigInt(n) + 1n - 2n ** level, space);
}

/**
 * The nth key (0-based) of a tree that is filled level by level: on each level first the left child of every parent,
 * then the right child of every parent. This is the second order of the article "Kinesis Hash Key Space Partitioning".
 *
 * Use it for comparison only: on each level, the left children come from left to right, and then the right children do. So while
 * a level fills, the lower half of the space holds more keys than the upper half. To allocate keys, use `balancedKey`.
 *
 * @param n an integer from 0 to `space - 1`
 * @param space size of the key space, from 1 to 2^128; the article's examples use 128
 * @default space is `HASH_KEY_SPACE`
 * @throws InvalidArgumentError if the space has no nth key
 */
export function alternatingKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkKeyNumber(n, space);
  const level = levelOf(n);
  const position = BigInt(n) + 1n - 2n ** level;
  const lefts = (keysOfLevel(level, space) + 1n) / 2n;
  return keyAt(level, position < lefts ? 2n * position : 2n * (position - lefts) + 1n, space);
}

/** The key at a position on one level of the tree. Position 0 is the leftmost key of the level. */
function keyAt(level: bigint, position: bigint, space: bigint): bigint {
  let low = 0n;
  let high = space;
  let rest = position;
  for (let below = level; below > 0n; below -= 1n) {
    const key = (low + high) >> 1n;
    const left = keysOfLevel(below - 1n, keysBelow(low, key));
    if (rest < left) {
      high = key;
    } else {
      low = key;
      rest -= left;
    }
  }
  return (low + high) >> 1n;
}

/** The number of keys on a level. The tree halves its space, so every level except the last is full. */
function keysOfLevel(level: bigint, keys: bigint): bigint {
  const full = 2n ** level;
  const left = keys - (full - 1n);
  return left < full ? left : full;
}

function levelOf(n: number): bigint {
  return BigInt((BigInt(n) + 1n).toString(2).length - 1);
}
