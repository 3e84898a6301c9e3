import { hash } from 'node:crypto';
import { InvalidArgumentError, InvalidHashKeyError } from '../kernel/errors';

/**
 * The number of hash keys that a Kinesis stream has, 2^128. The keys run from 0 to `HASH_KEY_SPACE - 1n`.
 * Source: the Kinesis API reference, HashKeyRange.
 */
export const HASH_KEY_SPACE = 2n ** 128n;

/**
 * The hash key that Kinesis derives from a partition key: the MD5 of its UTF-8 bytes as an unsigned big-endian integer. Use it
 * with `shardIndexOf` to find the shard of a partition key. For a record with an explicit hash key, Kinesis ignores this value.
 *
 * @returns an integer from 0 to 2^128 - 1
 */
export function hashPartitionKey(partitionKey: string): bigint {
  return BigInt(`0x${hash('md5', partitionKey, 'hex')}`);
}

/** @throws InvalidHashKeyError unless `hashKey` is a bigint from 0 to 2^128 - 1 */
export function checkHashKey(field: string, hashKey: unknown): void {
  if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey >= HASH_KEY_SPACE) {
    throw new InvalidHashKeyError(field, hashKey, 'an integer from 0 to 2^128 - 1');
  }
}

/** @throws InvalidArgumentError unless `space`, the number of keys of a key space, is a bigint from 1 to 2^128 */
export function checkSpace(space: unknown): void {
  if (typeof space !== 'bigint' || space < 1n || space > HASH_KEY_SPACE) {
    throw new InvalidArgumentError('space', space, 'a bigint from 1 to 2^128');
  }
}

/** The digits of an explicit hash key. Source: the Kinesis API reference, PutRecordsRequestEntry. */
const DECIMAL = /^(?:0|[1-9]\d{0,38})$/;

/** Parses a hash key in decimal digits. Undefined if the text is not a hash key. */
export function parseHashKey(text: string): bigint | undefined {
  const hashKey = DECIMAL.test(text) ? BigInt(text) : HASH_KEY_SPACE;
  return hashKey < HASH_KEY_SPACE ? hashKey : undefined;
}

/**
 * The number of keys in the left subtree of `key`, in a tree that halves the key space. `low` is the first key of the range of
 * this node. Unless `low` is 0, it is the key of an ancestor in the tree, so this key is not counted.
 */
export function keysBelow(low: bigint, key: bigint): bigint {
  return low === 0n ? key : key - low - 1n;
}

/** @throws InvalidArgumentError unless `n` is the 0-based number of a key of the space */
export function checkKeyNumber(n: unknown, space: bigint): void {
  checkSpace(space);
  if (!Number.isSafeInteger(n) || (n as number) < 0 || (n as number) >= space) {
    throw new InvalidArgumentError('n', n, `a whole number from 0 to ${space - 1n} and at most 2^53 - 1`);
  }
}
