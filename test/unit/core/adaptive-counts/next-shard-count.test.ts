import fc from 'fast-check';
import {
  LEAST_GROWTH,
  MAX_OF_NEED,
  nextShardCount,
  TARGET_UTILISATION,
  type ValueSituation,
  type WriteMinute,
} from '../../../../lib/core/adaptive-counts/next-shard-count';

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;

/**
 * The minute that begins `minutesAgo` before noon, with `wanted` write units per second. `throttledPart` is their
 * throttled part.
 */
const minute = (minutesAgo: number, wanted: number, throttledPart = 0.5): WriteMinute => ({
  start: NOON - minutesAgo * MINUTE,
  admitted: 60 * wanted * (1 - throttledPart),
  throttled: 60 * wanted * throttledPart,
});

const situation = (shards: number, minutes: WriteMinute[], more: Partial<ValueSituation> = {}): ValueSituation => ({
  shards,
  maximum: 100,
  minutes,
  now: NOON,
  ...more,
});

/** Returns this number of consecutive throttled minutes. The last minute ends at noon. */
const throttledMinutes = (length: number, wanted: number): WriteMinute[] =>
  Array.from({ length }, (_, at) => minute(length - at, wanted));

describe('nextShardCount', () => {
  test.each([
    ['8,000 units per second – returns 10 shards, of which 20 % is free', situation(1, throttledMinutes(2, 8_000)), 10],
    ['8,001 units per second – rounds up', situation(1, throttledMinutes(2, 8_001)), 11],
    [
      'minutes with different throttled parts – adds admitted and throttled writes',
      situation(1, [minute(2, 8_000, 0.9), minute(1, 8_000, 0.1)]),
      10,
    ],
    ['a busy and a calm minute – uses the busy minute', situation(1, [minute(2, 8_000), minute(1, 1_000)]), 10],
    [
      'a busy minute before the last two minutes – ignores the busy minute',
      situation(1, [minute(3, 8_000), ...throttledMinutes(2, 1_600)]),
      2,
    ],
    ['a small increase – adds at least half of the shards', situation(4, throttledMinutes(2, 3_300)), 6],
    [
      'three shards and 1,700 units per second – stays below twice the necessary count',
      situation(3, throttledMinutes(10, 1_700)),
      4,
    ],
    [
      'three shards and 1,600 units per second – stays below twice the necessary count',
      situation(3, throttledMinutes(10, 1_600)),
      3,
    ],
    ['one shard at its target utilization – keeps the count', situation(1, throttledMinutes(10, 800)), 1],
    [
      'more writes than the maximum allows – returns the maximum',
      situation(1, throttledMinutes(2, 8_000), { maximum: 7 }),
      7,
    ],
    ['no throttled writes – keeps the count', situation(1, []), 1],
    ['a few throttled writes – keeps the count', situation(1, [minute(2, 8_000, 0.001), minute(1, 8_000, 0.001)]), 1],
    ['one throttled minute – keeps the count', situation(1, [minute(1, 8_000)]), 1],
    [
      'two throttled minutes that are not consecutive – keeps the count',
      situation(1, [minute(3, 8_000), minute(1, 8_000)]),
      1,
    ],
    [
      'no throttled writes in the last minute – keeps the count',
      situation(1, [minute(3, 8_000), minute(2, 8_000), minute(1, 8_000, 0)]),
      1,
    ],
    [
      'metrics with a delay of three minutes – increases the count',
      situation(1, [minute(5, 8_000), minute(4, 8_000)]),
      10,
    ],
    [
      'metrics with a delay of five minutes – increases the count',
      situation(1, [minute(7, 8_000), minute(6, 8_000)]),
      10,
    ],
    ['older metrics – keeps the count', situation(1, [minute(8, 8_000), minute(7, 8_000)]), 1],
    ['a change one minute ago – waits', situation(1, throttledMinutes(2, 8_000), { since: NOON - MINUTE }), 1],
    [
      'a change two minutes ago – increases the count',
      situation(1, throttledMinutes(2, 8_000), { since: NOON - 2 * MINUTE }),
      10,
    ],
    [
      'enough shards and 9 throttled minutes – waits for DynamoDB to split partitions',
      situation(10, throttledMinutes(9, 8_000)),
      10,
    ],
    ['enough shards and 10 throttled minutes – increases the count', situation(10, throttledMinutes(10, 8_000)), 15],
    ['twice the necessary count – keeps the count', situation(20, throttledMinutes(30, 8_000)), 20],
    ['few writes in a hot partition – keeps the count', situation(1, throttledMinutes(30, 700)), 1],
    ['more shards than necessary – does not decrease the count', situation(200, throttledMinutes(30, 8_000)), 200],
  ])('%s', (_, given, shards) => {
    expect(nextShardCount(given).shards).toBe(shards);
  });

  test.each([
    ['increase', situation(1, throttledMinutes(2, 8_000))],
    ['calm', situation(1, [])],
    ['too early', situation(1, throttledMinutes(1, 8_000))],
    ['too early', situation(10, throttledMinutes(9, 8_000))],
    ['enough shards', situation(20, throttledMinutes(30, 8_000))],
    ['enough shards', situation(3, throttledMinutes(10, 1_600))],
    ['at maximum', situation(10, throttledMinutes(2, 80_000), { maximum: 10 })],
  ] as const)('returns the decision %s', (decision, given) => {
    expect(nextShardCount(given).decision).toBe(decision);
  });

  test('returns the reason for its decision', () => {
    expect(nextShardCount(situation(1, throttledMinutes(2, 8_000))).reason).toBe(
      '8000 write units a second at 11:58, 50 % throttled, 8000 write units a second at 11:59, 50 % throttled, which needs 10 shards',
    );
    expect(nextShardCount(situation(10, throttledMinutes(2, 80_000), { maximum: 10 })).reason).toMatch(
      /but the maximum is 10$/,
    );
    expect(nextShardCount(situation(20, throttledMinutes(30, 8_000))).reason).toMatch(/the cause can be one hot item$/);
  });
});

const minutes = fc
  .array(
    fc.record({
      gap: fc.constantFrom(1, 1, 1, 2),
      wanted: fc.integer({ min: 0, max: 50_000 }),
      part: fc.constantFrom(0, 0.0005, 0.01, 0.3, 0.9, 1),
    }),
    { maxLength: 14 },
  )
  .map((drawn) => {
    let ago = 0;
    const newestFirst = drawn.map(({ gap, wanted, part }) => {
      ago += gap;
      return minute(ago, wanted, part);
    });
    return newestFirst.reverse();
  });

const situations = fc.record({
  shards: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 120 })),
  maximum: fc.integer({ min: 1, max: 100 }),
  minutes,
  since: fc.constantFrom(undefined, NOON - 3 * MINUTE, NOON - 20 * MINUTE),
  now: fc.constantFrom(NOON, NOON + 3 * MINUTE, NOON + 9 * MINUTE),
});

/** The largest shard count below twice the necessary count. */
const belowTwice = (needed: number): number => Math.ceil(MAX_OF_NEED * needed) - 1;

/** The write units per second of the minute with the most writes. */
const mostWanted = (given: ValueSituation): number =>
  Math.max(0, ...given.minutes.map(({ admitted, throttled }) => (admitted + throttled) / 60));

describe('nextShardCount in any situation', () => {
  test('increases a count by at least half, but never to twice the necessary count or above the maximum', () => {
    let increased = 0;
    fc.assert(
      fc.property(situations, (given) => {
        const { decision, shards, needed } = nextShardCount(given);
        if (decision !== 'increase') {
          expect(shards).toBe(given.shards);
          return;
        }
        increased += 1;
        const bound = Math.min(given.maximum, belowTwice(needed));
        expect(shards).toBeGreaterThan(given.shards);
        expect(shards).toBeLessThanOrEqual(bound);
        expect(shards).toBeGreaterThanOrEqual(Math.min(bound, LEAST_GROWTH * given.shards));
        expect(shards * 1_000 * TARGET_UTILISATION).toBeLessThanOrEqual(MAX_OF_NEED * mostWanted(given) + 1e-6);
      }),
      { numRuns: 2_000 },
    );
    expect(increased).toBeGreaterThan(100);
  });

  test('increases a count only if writes were throttled in the last two minutes, after all writers received the current count', () => {
    fc.assert(
      fc.property(situations, (given) => {
        if (nextShardCount(given).decision !== 'increase') return;
        const [before, newest] = given.minutes.slice(-2) as [WriteMinute, WriteMinute];
        expect(newest.start - before.start).toBe(MINUTE);
        expect(before.start).toBeGreaterThanOrEqual(given.since ?? 0);
        for (const { throttled } of [before, newest]) expect(throttled).toBeGreaterThan(0);
        expect(given.now - newest.start).toBeLessThanOrEqual(6 * MINUTE);
      }),
      { numRuns: 2_000 },
    );
  });

  test('never returns a lower count for more writes or for a higher maximum', () => {
    const more = fc.integer({ min: 100, max: 500 }).map((percent) => percent / 100);
    fc.assert(
      fc.property(situations, more, fc.nat(50), (given, factor, higher) => {
        const count = nextShardCount(given).shards;
        const busier = given.minutes.map(({ start, admitted, throttled }) => ({
          start,
          admitted: admitted * factor,
          throttled: throttled * factor,
        }));
        expect(nextShardCount({ ...given, minutes: busier }).shards).toBeGreaterThanOrEqual(count);
        expect(nextShardCount({ ...given, maximum: given.maximum + higher }).shards).toBeGreaterThanOrEqual(count);
      }),
      { numRuns: 2_000 },
    );
  });

  test('reaches a stable count below twice the necessary count if the load is constant', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 1, max: 3 }), (wanted, initial) => {
        let shards = initial;
        let steps = 0;
        for (let next = 0; next !== shards; steps += 1) {
          if (next !== 0) shards = next;
          next = nextShardCount(situation(shards, throttledMinutes(30, wanted), { maximum: 10_000 })).shards;
        }
        const needed = wanted / 1_000 / TARGET_UTILISATION;
        expect(shards).toBeGreaterThanOrEqual(Math.min(needed, Math.max(initial, belowTwice(needed))));
        expect(shards).toBeLessThanOrEqual(Math.max(initial, belowTwice(needed)));
        expect(steps).toBeLessThanOrEqual(5);
      }),
    );
  });
});
