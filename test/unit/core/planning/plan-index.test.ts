import fc from 'fast-check';
import {
  type IndexTraffic,
  InvalidArgumentError,
  overloadProbability,
  planIndex,
  readUnitsPerPage,
} from '../../../../lib/core';
import { randomRuns } from '../../../support/random-runs';

function resultOf(traffic: IndexTraffic): unknown {
  try {
    return planIndex(traffic);
  } catch (error) {
    return error;
  }
}

describe('planIndex', () => {
  test('needs one shard if one partition can serve the traffic with head-room', () => {
    expect(planIndex({ writesPerSecond: 500 })).toMatchObject({ shards: 1, overloadProbability: 0 });
  });

  test('"writes to a shard" is the decisive rule for 1,000 writes per second, because two shards may share a partition', () => {
    expect(planIndex({ writesPerSecond: 1_000 })).toMatchObject({ shards: 2, boundBy: 'writes to a shard' });
  });

  test('"shards that share a partition" is the decisive rule if the partitions are busy', () => {
    const plan = planIndex({ writesPerSecond: 5_000 });
    expect(plan).toMatchObject({ shards: 75, boundBy: 'shards that share a partition', partitions: 10 });
    expect(plan.rules).toContainEqual({ rule: 'writes to a shard', shards: 10 });
    expect(plan.overloadProbability).toBe(overloadProbability({ shards: 75, partitions: 10, utilization: 0.5 }));
  });

  test('needs fewer shards if the index has more partitions, for example with a warm throughput', () => {
    const shards = [10, 20, 40].map((partitions) => planIndex({ writesPerSecond: 5_000, partitions }).shards);
    expect(shards).toEqual([...shards].sort((a, b) => b - a));
    expect(shards[2]).toBeLessThan(shards[0]!);
  });

  test('limits the bytes of a shard if the table has a local secondary index, because DynamoDB then does not split the items of a partition key', () => {
    const table = { writesPerSecond: 500, storedGb: 400 };
    const divided = planIndex(table);
    expect(divided.shards).toBe(1);
    expect(divided.stored).toEqual({ gbOfShard: 400, partitions: 40 });
    const fixed = planIndex({ ...table, hasLocalSecondaryIndex: true });
    expect(fixed).toMatchObject({ shards: 80, boundBy: 'bytes of a shard', stored: { gbOfShard: 5, partitions: 40 } });
    expect(fixed.limits[0]).toEqual({ limit: 'bytes of a shard', used: 0.5 });
    expect(planIndex({ ...table, hasLocalSecondaryIndex: true, utilization: 1 }).shards).toBe(40);
  });

  test('numbers the shards from the given first shard, which does not change the shard count', () => {
    const traffic = { writesPerSecond: 5_000, utilization: 1 };
    expect(planIndex(traffic).shardNumbers).toEqual({ first: 0, last: 4 });
    expect(planIndex({ ...traffic, firstShard: 1 })).toEqual({
      ...planIndex(traffic),
      shardNumbers: { first: 1, last: 5 },
    });
    const shares = { USA: 4, FRA: 1 };
    const { byValue, shardNumbers } = planIndex({ writesPerSecond: 5_000, shares, firstShard: 1 });
    expect(shardNumbers).toEqual({ first: 1, last: byValue!.USA });
    expect(() => planIndex({ ...traffic, firstShard: 0.5 })).toThrow('firstShard must be a whole number of at least 0');
  });

  test('divides the stored bytes between the values in proportion to their writes', () => {
    const plan = planIndex({ writesPerSecond: 1, storedGb: 90, hasLocalSecondaryIndex: true, shares: { a: 8, b: 1 } });
    expect(plan.byValue).toEqual({ a: 16, b: 2 });
    expect(plan.stored!.gbOfShard).toBeCloseTo(5);
  });

  test('returns a plan in which a partition exceeds its limit with a probability below the default of 5 %', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.double({ min: 0.2, max: 0.7, noNaN: true }),
        (writesPerSecond, utilization) => {
          const plan = planIndex({ writesPerSecond, utilization });
          const busiest = plan.limits.find(({ limit }) => limit === 'writes to the busiest partition, at worst')!;
          return plan.overloadProbability < 0.05 && busiest.used <= 1 + 1e-9;
        },
      ),
      { numRuns: randomRuns(40) },
    );
  });

  test('never plans fewer shards for more writes, with and without a given number of partitions', () => {
    expect(planIndex({ writesPerSecond: 2_001, partitions: 4 }).shards).toBeGreaterThanOrEqual(
      planIndex({ writesPerSecond: 2_000, partitions: 4 }).shards,
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.integer({ min: 1, max: 10_000 }),
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        fc.double({ min: 0.2, max: 0.7, noNaN: true }),
        (writesPerSecond, more, partitions, utilization) => {
          const [less, larger] = [writesPerSecond, writesPerSecond + more].map((writes) =>
            planIndex({ writesPerSecond: writes, partitions, utilization }),
          );
          return larger!.shards >= less!.shards;
        },
      ),
      { numRuns: randomRuns(40) },
    );
  });

  test('divides the shards between five statuses by their shares of the writes', () => {
    const shares = { succeeded: 35, ignored: 35, pending: 10, in_progress: 10, failed: 10 };
    const { shards, byValue, page } = planIndex({ writesPerSecond: 5_000, shares });
    expect({ shards, byValue }).toEqual({
      shards: 78,
      byValue: { succeeded: 27, ignored: 27, pending: 8, in_progress: 8, failed: 8 },
    });
    expect(page.shards).toBe(27);
  });

  test('returns the read units of one page', () => {
    const { page } = planIndex({ writesPerSecond: 5_000, pageItems: 50, itemKb: 0.5 });
    expect(page).toEqual({ shards: 75, readUnits: 37.5, readUnitsUnsharded: 3.5 });
  });

  test('returns the cost of one month at list prices', () => {
    const { monthlyCost, page } = planIndex({ writesPerSecond: 5_000, pagesPerSecond: 20, averageOfPeak: 0.1 });
    expect(monthlyCost.writes).toBeCloseTo(500 * 2.628 * 0.625);
    expect(monthlyCost.pages).toBeCloseTo(2 * page.readUnits * 2.628 * 0.125);
    expect(monthlyCost.total).toBeCloseTo(monthlyCost.writes + monthlyCost.pages);
  });

  test.each<[string, IndexTraffic, string]>([
    [
      'a number of partitions that is too small',
      { writesPerSecond: 5_000, partitions: 4 },
      '4 partitions are 125% busy on average with any number of shards: ' +
        'set a warm throughput of 10000 write units a second',
    ],
    [
      'pages that need more read units than a shard has',
      { writesPerSecond: 5_000, pagesPerSecond: 7_000 },
      '7000 pages a second need more than the 3000 read units a second of each shard',
    ],
  ])('reports a problem that more shards do not fix: %s', (_, traffic, sentence) => {
    expect(planIndex(traffic).notFixed).toEqual([expect.stringContaining(sentence)]);
  });

  test.each<[Partial<IndexTraffic>, string]>([
    [{ writesPerSecond: -1 }, 'writesPerSecond must be a number above 0, got -1'],
    [{ itemKb: 0 }, 'itemKb must be a number above 0 and at most 1024, got 0'],
    [{ utilization: 0.96 }, 'utilization must be a number from 0.05 to 0.95, or 1 for the formula of AWS, got 0.96'],
    [{ partitions: 0 }, 'partitions must be a whole number from 1 to 10000, got 0'],
    [{ probability: 1 }, 'probability must be a number from 1e-9 to 0.999, got 1'],
    [{ pageItems: 0 }, 'pageItems must be a whole number from 1 to 10000, got 0'],
    [{ shares: { a: Number.NaN } }, 'shares["a"] must be a number of at least 0, got NaN'],
    [{ writesPerSecond: 1e6 }, 'writesPerSecond must be traffic for at most 10000 shards'],
    [{ writesPerSecond: 5e6 }, 'the rule "shards that share a partition" needs more'],
  ])('rejects %j', (change, message) => {
    const result = resultOf({ writesPerSecond: 1, ...change });
    expect(result).toBeInstanceOf(InvalidArgumentError);
    expect(result).toMatchObject({ message: expect.stringContaining(message) });
  });
});

describe('readUnitsPerPage', () => {
  test.each([
    [1, 25, 1, 3.5],
    [10, 25, 1, 10],
    [100, 25, 0.5, 50],
    [200, 50, 0.2, 100],
  ])('returns, for %d shards and a page of %d items of %d KB, %d units', (shards, items, itemKb, units) => {
    expect(readUnitsPerPage({ shards, items, itemKb })).toBe(units);
  });

  test.each([
    ['shards', 1, 100_000, [0, 100_001]],
    ['items', 1, 10_000, [0, 10_001]],
    ['itemKb', 0.001, 400, [0]],
  ])('accepts %s from %d to %d', (field, least, most, wrong) => {
    const units = (value: number) => readUnitsPerPage({ shards: 2, items: 1, itemKb: 1, [field]: value });
    for (const allowed of [least, most]) expect(units(allowed)).toBeGreaterThan(0);
    for (const value of wrong) expect(() => units(value)).toThrow(`${field} must be`);
  });
});
