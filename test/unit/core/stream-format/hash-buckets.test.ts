import fc from 'fast-check';
import { bucketHashKey, HASH_KEY_SPACE, hashPartitionKey, InvalidArgumentError } from '../../../../lib/core';
import { HashBuckets } from '../../../../lib/core/stream-format/hash-buckets';
import { anyText } from '../../../support/any-text';

describe('hash buckets', () => {
  test('a key is in the bucket of its MD5 hash, and its hash key is the centre of the bucket', () => {
    // The MD5 of "a" is 0cc175b9c0f1b6a831c399e269772661 (RFC 1321, A.5).
    expect(bucketHashKey('a', 256)).toBe(0x0c8n << 116n);
    expect(bucketHashKey('a', 2)).toBe(1n << 126n);
    expect(bucketHashKey('a', 65_536)).toBe(0x0cc18n << 108n);
    expect(new HashBuckets(256).of('a').name).toBe('bucket-12-of-256');
  });

  test('for any power of two as the number of buckets, the hash key is the centre of the bucket that contains the MD5 hash of the key', () => {
    fc.assert(
      fc.property(anyText({ minLength: 1 }), fc.integer({ min: 1, max: 16 }), (key, bits) => {
        const width = HASH_KEY_SPACE >> BigInt(bits);
        expect(bucketHashKey(key, 2 ** bits) / width).toBe(hashPartitionKey(key) / width);
        expect(bucketHashKey(key, 2 ** bits) % width).toBe(width / 2n);
      }),
    );
  });

  test('a bucket can be found by the hash key at its centre, and by no other hash key', () => {
    const buckets = new HashBuckets(256);
    const bucket = buckets.of('a');
    expect(buckets.centredAt(bucket.hashKey)).toBe(bucket);
    for (const beside of [bucket.hashKey - 1n, bucket.hashKey + 1n, 0n, HASH_KEY_SPACE - 1n]) {
      expect(buckets.centredAt(beside)).toBeUndefined();
    }
  });

  test.each([1, 3, 131_072, -2, Number.NaN, '256'])('%p is not a valid number of buckets', (count) => {
    expect(() => bucketHashKey('a', count as number)).toThrow(InvalidArgumentError);
    expect(() => bucketHashKey('a', count as number)).toThrow('hashBuckets must be a power of two from 2 to 65536');
  });
});
