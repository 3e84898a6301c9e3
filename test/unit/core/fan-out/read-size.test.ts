import fc from 'fast-check';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { evaluatedFor, readSize } from '../../../../lib/core/fan-out/read-size';

const unmeasured = new ItemSizes();

describe('readSize', () => {
  test.each([
    [10, 1, 10],
    [10, 2, 7],
    [25, 10, 4],
    [100, 10, 12],
    [100, 100, 2],
    [25, 200, 1],
  ])(
    'reads a few more items than the share of a shard if item sizes are not known: for %d items from %d shards, %d per shard',
    (wanted, shards, size) => {
      expect(readSize(wanted, shards, unmeasured)).toBe(size);
    },
  );

  test('reads at most the share of a shard plus two standard deviations, even if the limit is very large', () => {
    expect(readSize(10_001, 1, unmeasured)).toBe(10_001);
    expect(readSize(100_000, 10, unmeasured)).toBe(10_200);
    expect(readSize(10_000, 20, unmeasured)).toBeLessThan(550);
    expect(readSize(2 ** 40, 5, unmeasured)).toBe(1_000_000);
  });

  test('reads at least one item and at most the limit', () => {
    const sizes = fc.record({
      mean: fc.integer({ min: 1, max: 400_000 }),
      deviation: fc.integer({ max: 50_000, min: 0 }),
    });
    const count = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(count, count, fc.option(sizes), (wanted, shards, measured) => {
        const size = readSize(
          wanted,
          shards,
          measured === null ? unmeasured : new ItemSizes(measured.mean, measured.deviation),
        )!;
        expect(size).toBeGreaterThanOrEqual(1);
        expect(size).toBeLessThanOrEqual(wanted);
      }),
    );
  });
});

describe('the next limit of a read with a filter', () => {
  test('evaluatedFor returns at most four times the largest limit so far, even if the filter removes every item', () => {
    expect(evaluatedFor(5, { evaluated: 200, matched: 0, largestLimit: 20 })).toBe(80);
  });

  test('evaluatedFor returns at most 1,000,000 items, even if the filter removes nearly every item', () => {
    expect(evaluatedFor(5, { evaluated: 90_000, matched: 1, largestLimit: 9_000 })).toBe(36_000);
    expect(evaluatedFor(5, { evaluated: 9e9, matched: 1, largestLimit: 900_000 })).toBe(1_000_000);
  });
});
