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

  test('fills the last block that is paid for', () => {
    expect(readSize(25, 10, new ItemSizes(200))).toBe(20);
    expect(readSize(25, 10, new ItemSizes(500))).toBe(8);
    expect(readSize(2, 12, new ItemSizes(2_500))).toBe(1);
  });

  test('leaves room in the last block when sizes vary', () => {
    expect(readSize(100, 100, new ItemSizes(500, 200))).toBe(6);
    expect(readSize(100, 100, new ItemSizes(300, 100))).toBe(11);
  });

  test('accepts a second wave where items are so large that avoiding it would cost more', () => {
    expect(readSize(25, 200, new ItemSizes(1_000))).toBe(4);
    expect(readSize(25, 200, new ItemSizes(4_000))).toBe(1);
    expect(readSize(10, 5, new ItemSizes(2_000))).toBe(4);
    expect(readSize(7, 3, new ItemSizes(1_000))).toBe(4);
  });

  test.each([
    [10, 5, 1_000, 8],
    [2, 2, 2_500, 2],
    [40, 76, 2_500, 3],
    [150, 32, 1_365, 9],
    [7, 5, 8_000, 2],
  ])(
    'pays for further blocks where they avoid a second wave: %d of %d shards, of %d bytes',
    (wanted, shards, bytes, size) => {
      expect(readSize(wanted, shards, new ItemSizes(bytes))).toBe(size);
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
  test('asks for what is wanted while every item passes', () => {
    expect(evaluatedFor(5, { evaluated: 20, matched: 20, largestLimit: 20 })).toBe(5);
  });

  test('asks for more by the share that passes the filter', () => {
    expect(evaluatedFor(5, { evaluated: 20, matched: 10, largestLimit: 20 })).toBe(10);
    expect(evaluatedFor(5, { evaluated: 20, matched: 1, largestLimit: 100 })).toBe(100);
  });

  test('asks for at most four times as much as before, however little passes', () => {
    expect(evaluatedFor(5, { evaluated: 200, matched: 0, largestLimit: 20 })).toBe(80);
  });

  test('goes on growing where a filter hides nearly all, up to more than an answer holds', () => {
    expect(evaluatedFor(5, { evaluated: 90_000, matched: 1, largestLimit: 9_000 })).toBe(36_000);
    expect(evaluatedFor(5, { evaluated: 9e9, matched: 1, largestLimit: 900_000 })).toBe(1_000_000);
  });
});
