import fc from 'fast-check';
import {
  HASH_KEY_SPACE,
  hashPartitionKey,
  InvalidArgumentError,
  InvalidHashKeyError,
  InvalidHashKeyRangesError,
  InvalidShardCountError,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';

const shardCounts = fc.integer({ min: 1, max: 10_000 });

describe('uniformRanges', () => {
  test('splits the hash key space into two shards at the boundary in "Kinesis Hash Key Space Partitioning"', () => {
    expect(uniformRanges(2)).toEqual([
      { startingHashKey: 0n, endingHashKey: 170141183460469231731687303715884105727n },
      {
        startingHashKey: 170141183460469231731687303715884105728n,
        endingHashKey: 340282366920938463463374607431768211455n,
      },
    ]);
  });

  test.each([
    [1, ['0-127']],
    [2, ['0-63', '64-127']],
    [4, ['0-31', '32-63', '64-95', '96-127']],
    [8, ['0-15', '16-31', '32-47', '48-63', '64-79', '80-95', '96-111', '112-127']],
  ])('splits the 7-bit space of "Kinesis Hash Key Space Partitioning" into %d shards', (shards, ranges) => {
    const split = uniformRanges(shards, 128n);
    expect(split.map(({ startingHashKey, endingHashKey }) => `${startingHashKey}-${endingHashKey}`)).toEqual(ranges);
  });

  test('splits the 8-bit space of "Kinesis Hash Key Space Partitioning" into [0, 127] and [128, 255]', () => {
    expect(uniformRanges(2, 256n)).toEqual([
      { startingHashKey: 0n, endingHashKey: 127n },
      { startingHashKey: 128n, endingHashKey: 255n },
    ]);
  });

  test('matches the ranges that AWS documents for five shards', () => {
    const ranges = uniformRanges(5);
    expect(ranges[0]!.endingHashKey).toBe(68056473384187692692674921486353642290n);
    expect(ranges[4]!.startingHashKey).toBe(272225893536750770770699685945414569164n);
    expect(ranges[4]!.endingHashKey).toBe(HASH_KEY_SPACE - 1n);
  });

  test('covers the space without a gap or an overlap, and the widths of two shards differ by less than the shard count', () => {
    fc.assert(
      fc.property(shardCounts, (shards) => {
        const ranges = uniformRanges(shards);
        let next = 0n;
        for (const { startingHashKey, endingHashKey } of ranges) {
          if (startingHashKey !== next || endingHashKey < startingHashKey) return false;
          next = endingHashKey + 1n;
        }
        const widths = ranges.map(({ startingHashKey, endingHashKey }) => endingHashKey - startingHashKey);
        const widest = widths.at(-1)!;
        return next === HASH_KEY_SPACE && widest - widths[0]! < BigInt(shards);
      }),
    );
  });

  test.each([0, 1.5, Number.NaN, 10_001, '4'])('rejects the shard count %p', (shardCount) => {
    const split = () => uniformRanges(shardCount as number);
    expect(split).toThrow(InvalidShardCountError);
    const reason = shardCount === 10_001 ? ' (the most shards of a Kinesis stream)' : '';
    expect(split).toThrow(`shardCount must be a whole number from 1 to 10000${reason}, got `);
  });

  test('splits a space of one key into one shard, and rejects more shards than keys', () => {
    expect(uniformRanges(1, 1n)).toEqual([{ startingHashKey: 0n, endingHashKey: 0n }]);
    expect(() => uniformRanges(5, 4n)).toThrow('shardCount must be a whole number from 1 to 4, got 5');
  });

  test.each([0n, HASH_KEY_SPACE + 1n, 128])('rejects the space %p', (space) => {
    expect(() => uniformRanges(1, space as bigint)).toThrow(InvalidArgumentError);
  });
});

describe('shardIndexOf', () => {
  test('returns the index of the range that contains the hash key', () => {
    fc.assert(
      fc.property(shardCounts, fc.bigInt({ min: 0n, max: HASH_KEY_SPACE - 1n }), (shards, hashKey) => {
        const ranges = uniformRanges(shards);
        const index = shardIndexOf(hashKey, ranges);
        const { startingHashKey, endingHashKey } = ranges[index]!;
        expect(startingHashKey <= hashKey && hashKey <= endingHashKey).toBe(true);
        for (const end of [startingHashKey, endingHashKey]) expect(shardIndexOf(end, ranges)).toBe(index);
      }),
    );
  });

  test('returns the first of two shards for hash keys up to 2^127 − 1, and the second shard for higher hash keys', () => {
    const boundary = 170141183460469231731687303715884105727n;
    const shards = [0n, boundary, boundary + 1n, HASH_KEY_SPACE - 1n].map((key) => shardIndexOf(key, uniformRanges(2)));
    expect(shards).toEqual([0, 0, 1, 1]);
  });

  test('distributes the partition keys 1 to 14 over two shards as 3 and 11', () => {
    const ranges = uniformRanges(2);
    const shards = Array.from({ length: 14 }, (_, index) => shardIndexOf(hashPartitionKey(String(index + 1)), ranges));
    expect(shards.filter((shard) => shard === 0)).toHaveLength(3);
    expect(shards.filter((shard) => shard === 1)).toHaveLength(11);
  });

  test.each([-1n, 128n, 5, undefined])('rejects the hash key %p outside every range', (hashKey) => {
    expect(() => shardIndexOf(hashKey as bigint, uniformRanges(4, 128n))).toThrow(InvalidHashKeyError);
  });

  test('rejects an empty list of ranges', () => {
    expect(() => shardIndexOf(0n, [])).toThrow(InvalidHashKeyRangesError);
  });

  test('rejects a hash key in a gap between ranges', () => {
    const [first, , third] = uniformRanges(3, 96n);
    expect(() => shardIndexOf(40n, [first!, third!])).toThrow(InvalidHashKeyRangesError);
  });
});
