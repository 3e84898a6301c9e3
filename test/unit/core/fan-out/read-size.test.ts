import fc from 'fast-check';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { evaluatedFor, readSize } from '../../../../lib/core/fan-out/read-size';

const unknown = new ItemSizes();

describe('readSize', () => {
  test.each([
    [10, 1, 10],
    [10, 2, 7],
    [25, 10, 4],
    [100, 10, 12],
    [100, 100, 2],
    [25, 200, 1],
  ])(
    'asks for little more than the share of items of unknown size: %d of %d shards, %d each',
    (wanted, shards, size) => {
      expect(readSize(wanted, shards, unknown)).toBe(size);
    },
  );

  test('asks for the share of a shard and two deviations, however many items are wanted', () => {
    expect(readSize(10_001, 1, unknown)).toBe(10_001);
    expect(readSize(100_000, 10, unknown)).toBe(10_200);
    expect(readSize(10_000, 20, unknown)).toBeLessThan(550);
    expect(readSize(2 ** 40, 5, unknown)).toBe(1_000_000);
  });

  test('asks for one item at least, and for no more than are wanted', () => {
    const sizes = fc.record({
      mean: fc.integer({ min: 1, max: 400_000 }),
      deviation: fc.integer({ max: 50_000, min: 0 }),
    });
    const count = fc.integer({ min: 1, max: 10_000 });
    fc.assert(
      fc.property(count, count, fc.option(sizes), (wanted, shards, known) => {
        const size = readSize(wanted, shards, known === null ? unknown : new ItemSizes(known.mean, known.deviation))!;
        expect(size).toBeGreaterThanOrEqual(1);
        expect(size).toBeLessThanOrEqual(wanted);
      }),
    );
  });
});

describe('evaluatedFor', () => {
  test('asks for at most four times as much as before, however little passes', () => {
    expect(evaluatedFor(5, { evaluated: 200, matched: 0, largestLimit: 20 })).toBe(80);
  });

  test('goes on growing where a filter hides nearly all, up to more than an answer holds', () => {
    expect(evaluatedFor(5, { evaluated: 90_000, matched: 1, largestLimit: 9_000 })).toBe(36_000);
    expect(evaluatedFor(5, { evaluated: 9e9, matched: 1, largestLimit: 900_000 })).toBe(1_000_000);
  });
});
