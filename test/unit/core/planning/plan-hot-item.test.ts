import { InvalidArgumentError, planHotItem } from '../../../../lib/core';

describe('planHotItem', () => {
  test('recommends no change if one partition can serve the item', () => {
    const plan = planHotItem({ readsPerSecond: 6_000 });
    expect(plan).toMatchObject({ readUnitsPerSecond: 3_000, partitionUse: 1, cachedReadUnitsPerSecond: 0.5 });
    expect(plan.advice).toMatch(/^the item needs at most/);
  });

  test('recommends a cache above 3,000 read units per second, and returns the read units with a cache of one second', () => {
    const plan = planHotItem({ readsPerSecond: 50_000, itemKb: 5, caches: 40 });
    expect(plan).toMatchObject({ readUnitsPerSecond: 50_000, cachedReadUnitsPerSecond: 40 });
    expect(plan.advice).toMatch(/^use a cache/);
  });

  test('counts at most as many reads with caches as without caches', () => {
    expect(planHotItem({ readsPerSecond: 10, caches: 500 }).cachedReadUnitsPerSecond).toBe(5);
  });

  test('recommends fewer caches if there are too many caches, and recommends eventually consistent reads if the reads are consistent', () => {
    expect(planHotItem({ readsPerSecond: 1e6, caches: 1_000, cacheSeconds: 0.1 }).advice).toMatch(/^use fewer caches/);
    const consistent = planHotItem({ readsPerSecond: 4_000, consistentRead: true });
    expect(consistent).toMatchObject({ readUnitsPerSecond: 4_000, cachedReadUnitsPerSecond: 4_000 });
    expect(consistent.advice).toMatch(/^use eventually consistent reads/);
  });

  test.each([
    { readsPerSecond: 0 },
    { readsPerSecond: 1, itemKb: 0 },
    { readsPerSecond: 1, cacheSeconds: 0 },
    { readsPerSecond: 1, caches: 100_001 },
  ])('rejects %j', (traffic) => {
    expect(() => planHotItem(traffic)).toThrow(InvalidArgumentError);
  });
});
