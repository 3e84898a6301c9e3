import fc from 'fast-check';
import { InvalidArgumentError, InvalidShardCountError, randomShard } from '../../../../lib/core';

describe('randomShard', () => {
  test('maps a random number to a shard from 0 to shardCount − 1', () => {
    expect(randomShard(5, () => 0)).toBe(0);
    expect(randomShard(5, () => 0.2)).toBe(1);
    expect(randomShard(5, () => 1 - Number.EPSILON / 2)).toBe(4);
  });

  test('returns a valid shard for any random number', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (n, drawn) => {
          const shard = randomShard(n, () => drawn);
          return Number.isInteger(shard) && shard >= 0 && shard < n;
        },
      ),
    );
  });

  test.each([0, -1, 2.5, Number.NaN, 10_001])('rejects the shard count %p', (shardCount) => {
    expect(() => randomShard(shardCount)).toThrow(InvalidShardCountError);
  });

  test.each([1, -0.1, Number.NaN])('rejects a source of random numbers that returns %p', (drawn) => {
    expect(() => randomShard(5, () => drawn)).toThrow(InvalidArgumentError);
  });
});
