import { LIST_PRICES, planIndex, planStream, type StreamTraffic, streamShards } from '../../../../lib/core';
import { moreThan } from '../../../../lib/core/planning/largest-load';

const steady: StreamTraffic = { recordsPerSecond: 5_000, bytesPerSecond: 2_000_000, headRoom: 0 };

describe('planStream', () => {
  test.each<[string, Partial<StreamTraffic>, number, string]>([
    ['records written, above 1,000 per second', {}, 5, 'records written'],
    ['bytes written, above 1 MB per second', { bytesPerSecond: 7_500_000 }, 8, 'bytes written'],
    ['the first of two rules that need the same number of shards', { bytesPerSecond: 5_000_000 }, 5, 'records written'],
    ['bytes read by shared consumers, above 2 MB per second', { consumers: 6 }, 6, 'bytes read by shared consumers'],
    ['records written, with head-room', { headRoom: 0.5 }, 10, 'records written'],
    ['keys spread by hash, with few keys', { keys: 50 }, 12, 'keys spread by hash'],
  ])('the decisive rule is %s', (_, change, shards, boundBy) => {
    expect(planStream({ ...steady, ...change })).toMatchObject({ shards, boundBy });
  });

  test.each([null, undefined, 'traffic', 7])('rejects %j as traffic', (traffic) => {
    const message = 'traffic must be an object, got';
    expect(() => planStream(traffic as never)).toThrow(message);
    expect(() => planIndex(traffic as never)).toThrow(message);
  });

  test('needs one shard for very little traffic', () => {
    expect(streamShards({ recordsPerSecond: 0.1, bytesPerSecond: 0 })).toBe(1);
    expect(streamShards({ recordsPerSecond: 10, bytesPerSecond: 0, keys: 10 })).toBe(1);
  });

  test('returns how many shards are enough with balanced explicit hash keys, if all records of a key go to one shard', () => {
    expect(planStream({ ...steady, keys: 50 })).toMatchObject({ shards: 12, shardsIfBalanced: 5 });
    expect(planStream({ ...steady, keys: 6 })).toMatchObject({ shards: 295, shardsIfBalanced: 6 });
  });

  test.each([20, 21, 22, 23, 24])(
    'returns the smallest sufficient number of shards for %d keys that are distributed by their hash',
    (keys) => {
      const { shards } = planStream({ ...steady, keys });
      const ofShard = Math.floor(keys / 5);
      expect(moreThan(ofShard, keys, shards)).toBeLessThan(0.05);
      expect(moreThan(ofShard, keys, shards - 1)).toBeGreaterThanOrEqual(0.05);
    },
  );

  test('keeps a quarter of every shard free by default', () => {
    expect(streamShards({ recordsPerSecond: 3_000, bytesPerSecond: 0 })).toBe(4);
    expect(streamShards({ recordsPerSecond: 3_001, bytesPerSecond: 0 })).toBe(5);
  });

  test('adds no shard because of the rounding error of a double, for any head-room', () => {
    for (let percent = 0; percent <= 90; percent++) {
      const traffic = { recordsPerSecond: (100 - percent) * 10 * 9_000, bytesPerSecond: 0, headRoom: percent / 100 };
      expect(streamShards(traffic)).toBe(9_000);
    }
  });

  test('uses the mean record size if the traffic has a distribution of record sizes', () => {
    const recordSizes = [
      { bytes: 1_000, share: 3 },
      { bytes: 9_000, share: 1 },
    ];
    const { rules } = planStream({ recordsPerSecond: 1_000, recordSizes, headRoom: 0 });
    expect(rules).toContainEqual({ rule: 'bytes written', shards: 3 });
  });

  test('keeps the head-room free in the busiest shard of hashed keys', () => {
    const { limits } = planStream({ ...steady, headRoom: 0.25, keys: 100 });
    expect(limits[0]).toEqual({ limit: 'the busiest shard of keys spread by hash', used: 0.75 });
  });

  test('counts each poll of each consumer', () => {
    const { limits } = planStream({ ...steady, consumers: 2, pollsPerSecond: 2 });
    expect(limits).toContainEqual({ limit: 'reads of a shard by shared consumers', used: 0.8 });
  });

  test('lists the busiest shard of balanced keys, each in one shard: with 11 keys on 6 shards, one shard has 2 keys', () => {
    const { shards, limits } = planStream({ ...steady, keys: 11, balanced: true });
    expect(shards).toBe(6);
    expect(limits).toContainEqual({ limit: 'the busiest shard of whole keys', used: (2 * 5) / 11 });
  });

  test('uses the given placement of keys: its shard count, and the traffic of its busiest shard', () => {
    const placed = { ...steady, placement: { shards: 9, busiestShare: 0.2 } };
    const { shards, boundBy, shardsIfBalanced, limits } = planStream(placed);
    expect({ shards, boundBy, shardsIfBalanced }).toEqual({
      shards: 9,
      boundBy: 'keys as they are placed',
      shardsIfBalanced: 5,
    });
    expect(limits[0]).toEqual({ limit: 'the busiest shard of keys as they are placed', used: 1 });
    expect(() => planStream({ ...placed, keys: 4 })).toThrow('keys must be absent if the keys have a placement, got 4');
  });

  test.each<[string, Partial<StreamTraffic>, string]>([
    [
      'a key that needs more than a shard',
      { hottestKeyShare: 0.29 },
      'one key takes 150% of a shard, and a key is in one shard: split',
    ],
    ['a few keys that each need more than a shard', { keys: 3 }, 'one key takes 170% of a shard'],
    [
      'a key that needs more than the head-room leaves',
      { headRoom: 0.25, hottestKeyShare: 0.16 },
      'one key takes 80% of a shard',
    ],
    [
      'a number of keys that is too small for their hash',
      { recordsPerSecond: 120_000, keys: 200 },
      '200 keys are too few and too busy to be spread by their hash',
    ],
    [
      'polls above the limit of a shard',
      { consumers: 3, pollsPerSecond: 2 },
      '3 consumers poll every shard 6 times a second',
    ],
    [
      'large records above the limit of a shard',
      {
        bytesPerSecond: undefined,
        recordSizes: [
          { bytes: 1_048_577, share: 3 },
          { bytes: 100, share: 97 },
        ],
      },
      '3% of the records are larger than 1 MiB',
    ],
  ])('reports a problem that more shards do not fix: %s', (_, change, sentence) => {
    const { notFixed } = planStream({ ...steady, ...change });
    expect(notFixed).toEqual([expect.stringContaining(sentence)]);
  });

  test.each<[string, Partial<StreamTraffic>]>([
    ['polls exactly at the limit of a shard', { consumers: 5 }],
    ['a large mean record size without a distribution of sizes', { recordsPerSecond: 10, bytesPerSecond: 20_000_000 }],
    ['records of exactly 1 MiB', { bytesPerSecond: undefined, recordSizes: [{ bytes: 1_048_576, share: 1 }] }],
    [
      'large records exactly at the limit of a shard',
      {
        bytesPerSecond: undefined,
        recordSizes: [
          { bytes: 2_000_000, share: 2 },
          { bytes: 100, share: 98 },
        ],
      },
    ],
  ])('reports no problem for %s', (_, change) => {
    expect(planStream({ ...steady, ...change }).notFixed).toEqual([]);
  });

  test('accepts a key that uses exactly the part of a shard below the head-room, despite the rounding errors of a double', () => {
    for (let percent = 0; percent <= 90; percent++) {
      for (let keys = 1; keys <= 10; keys++) {
        const recordsPerSecond = (100 - percent) * 10 * keys;
        const { notFixed } = planStream({
          recordsPerSecond,
          bytesPerSecond: 1,
          headRoom: percent / 100,
          hottestKeyShare: 1 / keys,
        });
        expect(notFixed).toEqual([]);
      }
    }
  });

  test('returns the cost of aggregated records, which is at most the cost without aggregation', () => {
    const cost = (bytes: number) =>
      planStream({ recordsPerSecond: 10_000, bytesPerSecond: 10_000 * bytes, headRoom: 0 }).monthlyCost;
    expect(cost(100).recordsPacked).toBeCloseTo((cost(100).records * 100) / 25_600);
    expect(cost(25_600).recordsPacked).toBeCloseTo(cost(25_600).records);
    expect(cost(25_601).recordsPacked).toBeLessThan(cost(25_601).records);
  });

  test('returns the cost of one month at list prices', () => {
    const { monthlyCost } = planStream({ ...steady, enhancedFanOutConsumers: 2, averageOfPeak: 0.5 });
    expect(monthlyCost.shards).toBeCloseTo(5 * 730 * 0.015);
    expect(monthlyCost.records).toBeCloseTo(5_000 * 0.5 * 730 * 3.6e-3 * 0.014, 9);
    expect(monthlyCost.fanOut).toBeCloseTo(2 * (5 * 730 * 0.015 + 1e6 * 730 * 3.6e-6 * 0.013), 9);
    expect(monthlyCost.total).toBeCloseTo(monthlyCost.shards + monthlyCost.records + monthlyCost.fanOut);
    expect(monthlyCost.prices).toBe(LIST_PRICES.asOf);
  });

  test('bills a record in units of 25 KB, rounded up', () => {
    const cost = (bytes: number) =>
      planStream({ recordsPerSecond: 10, recordSizes: [{ bytes, share: 1 }] }).monthlyCost.records;
    expect(cost(25_601)).toBeCloseTo(2 * cost(25_600));
  });

  test('uses the prices of another region', () => {
    const prices = { asOf: 'eu-central-1, today', shardHour: 0.018 };
    const { monthlyCost } = planStream({ ...steady, prices });
    expect(monthlyCost).toMatchObject({ shards: 5 * 730 * 0.018, prices: 'eu-central-1, today' });
  });

  test.each<[Partial<StreamTraffic>, string]>([
    [{ recordsPerSecond: 0 }, 'recordsPerSecond must be a number above 0, got 0'],
    [{ bytesPerSecond: undefined }, 'bytesPerSecond must be a number of at least 0, got undefined'],
    [{ recordSizes: [{ bytes: 1, share: 1 }] }, 'bytesPerSecond must be absent if recordSizes are set'],
    [
      { bytesPerSecond: undefined, recordSizes: [] },
      'recordSizes must be an array of at least one size with a share above 0',
    ],
    [
      { bytesPerSecond: undefined, recordSizes: [{ bytes: -1, share: 1 }] },
      'recordSizes[0].bytes must be a number from 0 to 10485760, got -1',
    ],
    [
      {
        bytesPerSecond: undefined,
        recordSizes: [
          { bytes: 1, share: 1 },
          { bytes: 1, share: -1 },
        ],
      },
      'recordSizes[1].share must be a number of at least 0, got -1',
    ],
    [{ prices: { shardHour: -1 } }, 'prices.shardHour must be a number of at least 0, got -1'],
    [
      { recordsPerSecond: 1e8 },
      'recordsPerSecond must be traffic for at most 10000 shards (the rule "records written"',
    ],
  ])('rejects %j', (change, message) => {
    expect(() => planStream({ ...steady, ...change })).toThrow(`[INVALID_ARGUMENT] ${message}`);
  });
});
