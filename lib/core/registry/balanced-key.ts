import { InvalidArgumentError } from '../foundation/errors';
import { checkSpace, HASH_KEY_SPACE } from '../foundation/hash-key-space';

/**
 * The nth key, counted from 0, of the balanced order: every prefix of it puts as many keys, give or take one, into the
 * lower half of the space as into the upper, and so in each half of a half, all the way down.
 *
 * It is the order in which a `BalancedKeyAllocator` without ranges hands keys out, in closed form: within a level of the
 * tree, the path to the nth key is n with its bits reversed. Use it where owners are numbered and never leave. On k
 * shards it puts ceil(m/k) of m owners on each if k is a power of two; for any other k use the allocator with the
 * stream's ranges. Every key of the space comes once: the last, for `n = space - 1`, is always one of the lowest level.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space; the seed's examples use 128
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
 * The nth key, counted from 0, of a tree that is filled level by level from left to right: the seed's first order.
 *
 * It is here for comparison: while a level fills, up to twice as many keys are in the lower half of the space as in the
 * upper. Use `balancedKey`.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space; the seed's examples use 128
 * @throws InvalidArgumentError if the space has no nth key
 */
export function leftToRightKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkPosition(n, space);
  const level = levelOf(n);
  return keyAt(level, BigInt(n) + 1n - 2n ** level, space);
}

/**
 * The nth key, counted from 0, of a tree that is filled level by level, the left child of every parent first, then every
 * right child: the seed's second order.
 *
 * It is here for comparison: the two children of a parent stay even, but the left children come from left to right, so
 * that while a level fills, the lower half of the space is ahead of the upper. Use `balancedKey`.
 *
 * @param n a whole number from 0 to `space - 1`
 * @param space size of the key space; the seed's examples use 128
 * @throws InvalidArgumentError if the space has no nth key
 */
export function alternatingKey(n: number, space: bigint = HASH_KEY_SPACE): bigint {
  checkPosition(n, space);
  const level = levelOf(n);
  const position = BigInt(n) + 1n - 2n ** level;
  const lefts = (keysOfLevel(level, space) + 1n) / 2n;
  return keyAt(level, position < lefts ? 2n * position : 2n * (position - lefts) + 1n, space);
}

/** The key at a position, counted from the left, among those that a level of the tree has. */
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

/** Halving keeps a tree of any size even: each of its levels is full but the last. */
function keysOfLevel(level: bigint, keys: bigint): bigint {
  const full = 2n ** level;
  const left = keys - (full - 1n);
  return left < full ? left : full;
}

/** How many keys from `low` to below `key` no ancestor has: `low` itself is one's, unless it is where the space starts. */
function leftKeys(low: bigint, key: bigint): bigint {
  return low === 0n ? key : key - low - 1n;
}

function levelOf(n: number): bigint {
  return BigInt((BigInt(n) + 1n).toString(2).length - 1);
}

function checkPosition(n: unknown, space: bigint): void {
  checkSpace(space);
  if (!Number.isSafeInteger(n) || (n as number) < 0 || (n as number) >= space) {
    throw new InvalidArgumentError('n', n, `a whole number from 0 to ${space - 1n}, exact in a double`);
  }
}
