import fc from 'fast-check';
import {
  alternatingKey,
  balancedKey,
  HASH_KEY_SPACE,
  hashPartitionKey,
  leftToRightKey,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';
import { mostOwners } from './most-owners';

const ARTICLE_SPACE = 128n;

function firstKeys(count: number, keyOf: typeof balancedKey, space = ARTICLE_SPACE): number[] {
  return Array.from({ length: count }, (_, n) => Number(keyOf(n, space)));
}

/** The keys on each level of the tree in "Kinesis Hash Key Space Partitioning", from left to right. */
function levels(space: bigint): bigint[][] {
  let intervals = [{ low: 0n, high: space, lowTaken: false }];
  const keys: bigint[][] = [];
  while (intervals.length > 0) {
    keys.push(intervals.map(({ low, high }) => (low + high) / 2n));
    intervals = intervals.flatMap(({ low, high, lowTaken }) => {
      const key = (low + high) / 2n;
      return [
        { low, high: key, lowTaken },
        { low: key, high, lowTaken: true },
      ].filter((half) => half.high - half.low > (half.lowTaken ? 1n : 0n));
    });
  }
  return keys;
}

describe('leftToRightKey', () => {
  test('returns the keys in the left-to-right order of "Kinesis Hash Key Space Partitioning"', () => {
    expect(firstKeys(10, leftToRightKey)).toEqual([64, 32, 96, 16, 48, 80, 112, 8, 24, 40]);
  });

  test('puts 15 of the first 23 keys below the first key, and 8 keys at or above the first key', () => {
    const keys = firstKeys(23, leftToRightKey);
    expect(keys.filter((key) => key < 64)).toHaveLength(15);
    expect(keys.filter((key) => key >= 64)).toHaveLength(8);
    expect(keys.slice(15)).toEqual([4, 12, 20, 28, 36, 44, 52, 60]);
  });

  test('has at worst 2n − 1 keys on one side and n keys on the other side, which is more even than MD5 with 3 and 11 keys', () => {
    const sides = { left: 0, right: 0 };
    const skews = firstKeys(127, leftToRightKey).map((key) => {
      sides[key < 64 ? 'left' : 'right'] += 1;
      return { ...sides, skew: Math.max(sides.left, sides.right) / Math.min(sides.left, sides.right) };
    });
    for (const n of [4, 8, 16, 32]) {
      // The states between a full tree of 2n - 1 keys and the next full tree.
      const [worst] = skews.slice(2 * n - 2, 4 * n - 2).toSorted((a, b) => b.skew - a.skew);
      expect(worst).toEqual({ left: 2 * n - 1, right: n, skew: (2 * n - 1) / n });
      expect(worst!.skew).toBeLessThan(11 / 3);
    }
  });

  test('fills the tree level by level from left to right, in a space of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 300n }), (space) => {
        const keys = Array.from({ length: Number(space) }, (_, n) => leftToRightKey(n, space));
        expect(keys).toEqual(levels(space).flat());
      }),
    );
  });
});

describe('alternatingKey', () => {
  test('returns the keys in the alternating order of "Kinesis Hash Key Space Partitioning"', () => {
    const keys = [64, 32, 96, 16, 80, 48, 112, 8, 40, 72, 104, 24, 56, 88, 120];
    expect(firstKeys(15, alternatingKey)).toEqual(keys);
  });

  test('returns the 23 keys of the tree in "Kinesis Hash Key Space Partitioning"', () => {
    const keys = [64, 32, 96, 16, 48, 80, 112, 8, 24, 40, 56, 72, 88, 104, 120, 4, 20, 36, 52, 68, 84, 100, 116];
    expect(new Set(firstKeys(23, alternatingKey))).toEqual(new Set(keys));
  });

  test('returns the same keys as balancedKey only up to the eighth key, although "Kinesis Hash Key Space Partitioning" treats both orders as the same', () => {
    const [keys, tree] = [firstKeys(15, alternatingKey), firstKeys(15, balancedKey)];
    expect(keys.slice(0, 8)).toEqual(tree.slice(0, 8));
    expect([keys[8], tree[8]]).toEqual([40, 72]);
  });

  test('puts 5 of the first nine keys below the key 64 and 3 above it, although the article states a difference of at most 1', () => {
    const halves = (keyOf: typeof balancedKey) => {
      const keys = firstKeys(9, keyOf).filter((key) => key !== 64);
      return [keys.filter((key) => key < 64).length, keys.filter((key) => key > 64).length];
    };
    expect(halves(alternatingKey)).toEqual([5, 3]);
    expect(halves(balancedKey)).toEqual([4, 4]);
  });

  test('returns every second key of a level, and then the other keys of the level, in a space of any size', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 300n }), (space) => {
        const keys = Array.from({ length: Number(space) }, (_, n) => alternatingKey(n, space));
        const everySecond = (level: bigint[], first: number) => level.filter((_, position) => position % 2 === first);
        expect(keys).toEqual(levels(space).flatMap((level) => [...everySecond(level, 0), ...everySecond(level, 1)]));
      }),
    );
  });
});

describe('balancedKey', () => {
  test('returns the keys of the tree in "Kinesis Hash Key Space Partitioning", in the order of the article', () => {
    expect(firstKeys(7, balancedKey)).toEqual([64, 32, 96, 16, 80, 48, 112]);
  });

  test('returns the middle of the hash key space first, and then the middle of each half', () => {
    expect([0, 1, 2].map((n) => balancedKey(n))).toEqual([2n ** 127n, 2n ** 126n, 2n ** 127n + 2n ** 126n]);
  });

  test('returns every key of a space of any size once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (space) => {
        expect(new Set(firstKeys(space, balancedKey, BigInt(space))).size).toBe(space);
      }),
    );
  });

  test.each([1, 2, 4, 8, 16, 32, 64])('puts at most ceil(m/k) of any m owners into each of %d shards', (shards) => {
    const ranges = uniformRanges(shards);
    const owners = Array.from({ length: 1000 }, (_, n) => shardIndexOf(balancedKey(n), ranges));
    mostOwners(owners, shards).forEach((most, index) => {
      expect(most).toBe(Math.ceil((index + 1) / shards));
    });
  });

  test('puts 14 owners into two shards as 7 and 7, where MD5 puts them as 3 and 11', () => {
    const perShard = (keyOf: (n: number) => bigint) => {
      const shards = Array.from({ length: 14 }, (_, n) => shardIndexOf(keyOf(n), uniformRanges(2)));
      return [0, 1].map((shard) => shards.filter((other) => other === shard).length);
    };
    expect(perShard((n) => balancedKey(n))).toEqual([7, 7]);
    expect(perShard((n) => hashPartitionKey(String(n + 1)))).toEqual([3, 11]);
  });
});

describe.each([
  ['balancedKey', balancedKey],
  ['leftToRightKey', leftToRightKey],
  ['alternatingKey', alternatingKey],
])('%s', (_, keyOf) => {
  test.each([-1, 0.5, Number.POSITIVE_INFINITY, 128, '1'])('rejects the position %p in a space of 128', (n) => {
    const message = '[INVALID_ARGUMENT] n must be a whole number from 0 to 127 and at most 2^53 - 1, ';
    expect(() => keyOf(n as number, ARTICLE_SPACE)).toThrow(message);
  });

  test.each([0n, -1n, HASH_KEY_SPACE + 1n, 128])('rejects the space %p', (space) => {
    expect(() => keyOf(0, space as bigint)).toThrow('space must be a bigint from 1 to 2^128');
  });
});
