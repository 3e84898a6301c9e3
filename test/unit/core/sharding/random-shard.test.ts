import fc from 'fast-check';
import { InvalidArgumentError, InvalidShardCountError, randomShard } from '../../../../lib/core';

describe('randomShard', () => {
  test('maps the random source onto 0 to shardCount - 1', () => {
    expect(randomShard(5, () => 0)).toBe(0);
    expect(randomShard(5, () => 0.2)).toBe(1);
    expect(randomShard(5, () => 1 - Number.EPSILON / 2)).toBe(4);
  });

  test('stays in range', () => {
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

  test.each([0, -1, 2.5, Number.NaN, 10_001])('fails for the shard count %p', (shardCount) => {
    expect(() => randomShard(shardCount)).toThrow(InvalidShardCountError);
  });

  test.each([1, -0.1, Number.NaN])('fails for a random source that yields %p', (drawn) => {
    expect(() => randomShard(5, () => drawn)).toThrow(InvalidArgumentError);
  });
});
