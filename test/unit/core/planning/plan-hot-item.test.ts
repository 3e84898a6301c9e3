import { InvalidArgumentError, planHotItem } from '../../../../lib/core';

describe('planHotItem', () => {
  test('leaves an item alone that its partition can take', () => {
    const plan = planHotItem({ readsPerSecond: 6_000 });
    expect(plan).toMatchObject({ readUnitsPerSecond: 3_000, partitionUse: 1, cachedReadUnitsPerSecond: 0.5 });
    expect(plan.advice).toMatch(/^the item needs at most/);
  });

  test('asks for a cache above 3,000 read units a second, and says what a second of it makes of them', () => {
    const plan = planHotItem({ readsPerSecond: 50_000, itemKb: 5, caches: 40 });
    expect(plan).toMatchObject({ readUnitsPerSecond: 50_000, cachedReadUnitsPerSecond: 40 });
    expect(plan.advice).toMatch(/^use a cache/);
  });

  test('never lets a cache ask more often than it is read', () => {
    expect(planHotItem({ readsPerSecond: 10, caches: 500 }).cachedReadUnitsPerSecond).toBe(5);
  });

  test('says where caches are too many or too quick, and that none answers a consistent read', () => {
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
  ])('refuses %j', (traffic) => {
    expect(() => planHotItem(traffic)).toThrow(InvalidArgumentError);
  });
});
