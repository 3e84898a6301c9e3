import fc from 'fast-check';
import { weightedShards } from '../../../../lib/core';

describe('weightedShards', () => {
  test('divides 100 shards into 35, 35, 10, 10 and 10 for values with these percentages of the traffic', () => {
    const shares = { succeeded: 35, ignored: 35, pending: 10, in_progress: 10, failed: 10 };
    expect(weightedShards({ shards: 100, shares })).toEqual(shares);
  });

  test('gives each value the smallest number of shards such that none of them gets more than the mean traffic of a shard', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.dictionary(fc.string(), fc.integer({ min: 1, max: 1_000_000 }), { minKeys: 1, maxKeys: 20 }),
        (shards, shares) => {
          const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
          return Object.entries(weightedShards({ shards, shares })).every(([value, count]) => {
            const share = shares[value]! / total;
            return share / count <= (1 / shards) * (1 + 1e-6) && (count === 1 || share / (count - 1) > 1 / shards);
          });
        },
      ),
    );
  });

  test('returns one shard for a value without traffic', () => {
    expect(weightedShards({ shards: 10, shares: { busy: 1, idle: 0 } })).toEqual({ busy: 10, idle: 1 });
  });

  test.each([
    [{ shards: 10, shares: {} }, 'shares must be an object with at least one share above 0, got {}'],
    [{ shards: 10, shares: { a: -1 } }, 'shares["a"] must be a number of at least 0, got -1'],
    [{ shards: 0, shares: { a: 1 } }, 'shards must be a whole number from 1 to 100000, got 0'],
  ])('rejects %j', (query, message) => {
    expect(() => weightedShards(query)).toThrow(`[INVALID_ARGUMENT] ${message}`);
  });
});
