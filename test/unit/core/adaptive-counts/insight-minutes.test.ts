import type { ShardedIndexConfig } from '../../../../lib/core';
import { shardAttributes } from '../../../../lib/core';
import { type InsightContributor, insightMinutes } from '../../../../lib/core/adaptive-counts/insight-minutes';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const NOON = Date.UTC(2026, 10, 21, 12);
/** The capacity of a partition per minute, in the units of Contributor Insights. */
const FULL = 180_000;

const key = (keys: string[], ...values: number[]): InsightContributor => ({
  Keys: keys,
  Datapoints: values.map((value, at) => ({ Timestamp: new Date(NOON + at * 60_000), ApproximateValue: value })),
});

const minutesOf = (
  reports: Partial<Parameters<typeof insightMinutes>[1]>,
  config: ShardedIndexConfig = adaptiveConfig,
  shards = 1,
) => insightMinutes(config, { accessed: [], throttled: [], ...reports }, () => shards);

describe('insightMinutes', () => {
  test('treats a key at the limit of a partition as throttled, and adds half of its admitted writes as throttled writes', () => {
    expect(minutesOf({ accessed: [key(['open#0'], FULL, 0.94 * FULL, 0.96 * FULL), key(['paid#0'], 100)] })).toEqual([
      {
        value: 'open',
        minutes: [
          { start: NOON, admitted: 60_000, throttled: 30_000 },
          { start: NOON + 120_000, admitted: expect.closeTo(57_600), throttled: expect.closeTo(28_800) },
        ],
      },
      { value: 'paid', minutes: [] },
    ]);
  });

  test('estimates the writes of all shards of a value from the shards that are reported', () => {
    const [open] = minutesOf({ accessed: [key(['open#0'], FULL), key(['open#7'], FULL)] }, adaptiveConfig, 10);
    expect(open).toEqual({ value: 'open', minutes: [{ start: NOON, admitted: 600_000, throttled: 300_000 }] });
  });

  test('uses the mean of all reported shards of a value, including shards without writes', () => {
    const keys = [key(['open#0'], 0), key(['open#7'], FULL)];
    expect(minutesOf({ accessed: keys }, adaptiveConfig, 10)).toEqual([{ value: 'open', minutes: [] }]);
  });

  test('uses the throttled attempts if they are reported: of 8,000 writes per second, one shard admits 1,000', () => {
    const p = (7 / 8) ** (1 / 3);
    const throttledAttempts = 480_000 * (p + p ** 2 + p ** 3);
    const [open] = minutesOf({ accessed: [key(['open#0'], FULL)], throttled: [key(['open#0'], throttledAttempts)] });
    expect(open!.minutes).toEqual([
      { start: NOON, admitted: expect.closeTo(480_000 * (1 - p)), throttled: expect.closeTo(480_000 * p) },
    ]);
  });

  test('if many throttled attempts and no admitted writes are reported, assumes that the partition is at its limit', () => {
    const [open, paid] = minutesOf({ throttled: [key(['open#0'], 60_000), key(['paid#0'], 100)] });
    expect(open!.minutes[0]!.admitted + open!.minutes[0]!.throttled).toBeGreaterThan(60_000);
    expect(paid!.minutes).toEqual([]);
  });

  test.each([
    ['single-attribute', 'a#b'],
    ['multi-attribute', 'a#b'],
    ['multi-attribute', undefined],
    ['single-attribute', undefined],
    ['single-attribute', 'a'],
  ] as const)('returns the value of a key that shardAttributes has written: %s, %s', (keyLayout, value) => {
    const { adaptive: _adaptive, version: _version, ...fixed } = adaptiveConfig;
    const config = { ...fixed, keyLayout, valueAttribute: value === undefined ? undefined : 'status' };
    const written = shardAttributes(config, { orderId: '1', status: value, createdAt: '1' });
    const shard = String(written[config.shardAttribute]);
    const keys = keyLayout === 'multi-attribute' && value !== undefined ? [value, shard] : [shard];
    expect(minutesOf({ accessed: [key(keys, FULL)] }, config)).toMatchObject([{ value }]);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['keys that are not an array', { Keys: 'open#0', Datapoints: [] }],
    [
      'an invalid time',
      { Keys: ['open#0'], Datapoints: [{ Timestamp: new Date(Number.NaN), ApproximateValue: FULL }] },
    ],
    ['a negative value', { Keys: ['open#0'], Datapoints: [{ Timestamp: new Date(NOON), ApproximateValue: -1 }] }],
  ])('ignores an invalid contributor: %s', (_, contributor) => {
    const reports = { accessed: [contributor as InsightContributor, key(['paid#0'], FULL)] };
    expect(minutesOf(reports)).toMatchObject([{ value: 'paid' }]);
  });

  test('reads the value after a shard prefix, and ignores keys without a shard or a value', () => {
    const config: ShardedIndexConfig = { ...adaptiveConfig, keyLayout: 'single-attribute', shardPlacement: 'prefix' };
    const keys = ['0#open', 'open', '0#', '#paid'].map((each) => key([each], FULL));
    expect(minutesOf({ accessed: keys }, config).map(({ value }) => value)).toEqual(['open']);
  });

  test('ignores keys that are not keys of the index', () => {
    const otherKeys = [
      key([], FULL),
      key(['open'], FULL),
      key(['#3'], FULL),
      key(['open', '3'], FULL),
      { Keys: ['open#1'] },
      {},
    ];
    expect(minutesOf({ accessed: [...otherKeys, { Keys: ['x#1'], Datapoints: [{}] }] })).toEqual([]);
  });
});
