import fc from 'fast-check';
import {
  LEAST_GROWTH,
  MOST_OF_NEED,
  nextShardCount,
  TARGET_UTILISATION,
  type ValueSituation,
  type WriteMinute,
} from '../../../../lib/core/adaptive-counts/next-shard-count';

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;

/** A minute that began so long before noon: write units a second that were wanted, and the part that was throttled. */
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

/** So many throttled minutes in a row, the last of which is just over. */
const run = (length: number, wanted: number): WriteMinute[] =>
  Array.from({ length }, (_, at) => minute(length - at, wanted));

describe('nextShardCount', () => {
  test.each([
    ['gives a value the shards that its writes need, a fifth being left free', situation(1, run(2, 8_000)), 10],
    ['rounded up', situation(1, run(2, 8_001)), 11],
    ['counts what was accepted and what was not', situation(1, [minute(2, 8_000, 0.9), minute(1, 8_000, 0.1)]), 10],
    ['goes by the busier of two minutes', situation(1, [minute(2, 8_000), minute(1, 1_000)]), 10],
    ['not by minutes before them', situation(1, [minute(3, 8_000), ...run(2, 1_600)]), 2],
    ['grows at least by half', situation(4, run(2, 3_300)), 6],
    ['but stays below twice the need', situation(3, run(10, 1_700)), 4],
    ['also where that is a whole number', situation(3, run(10, 1_600)), 3],
    ['and one shard is left alone that its writes fill as far as they may', situation(1, run(10, 800)), 1],
    ['nor beyond the maximum', situation(1, run(2, 8_000), { maximum: 7 }), 7],
    ['leaves a value alone that is not throttled', situation(1, []), 1],
    ['or hardly', situation(1, [minute(2, 8_000, 0.001), minute(1, 8_000, 0.001)]), 1],
    ['or for one minute only', situation(1, [minute(1, 8_000)]), 1],
    ['or in two minutes that do not follow each other', situation(1, [minute(3, 8_000), minute(1, 8_000)]), 1],
    [
      'or no longer, as metrics show that are a few minutes late',
      situation(1, [minute(3, 8_000), minute(2, 8_000), minute(1, 8_000, 0)]),
      1,
    ],
    ['looks at metrics that are three minutes late', situation(1, [minute(5, 8_000), minute(4, 8_000)]), 10],
    ['or five', situation(1, [minute(7, 8_000), minute(6, 8_000)]), 10],
    ['but not at old ones', situation(1, [minute(8, 8_000), minute(7, 8_000)]), 1],
    ['waits until all writers know the count', situation(1, run(2, 8_000), { since: NOON - MINUTE }), 1],
    ['but not longer', situation(1, run(2, 8_000), { since: NOON - 2 * MINUTE }), 10],
    ['lets DynamoDB split partitions if the shards are enough', situation(10, run(9, 8_000)), 10],
    ['but not for ever', situation(10, run(10, 8_000)), 15],
    ['and not to twice the need', situation(20, run(30, 8_000)), 20],
    ['leaves a rare value alone that shares a hot partition', situation(1, run(30, 700)), 1],
    ['never decreases a count', situation(200, run(30, 8_000)), 200],
  ])('%s', (_, given, shards) => {
    expect(nextShardCount(given).shards).toBe(shards);
  });

  test.each([
    ['increase', situation(1, run(2, 8_000))],
    ['calm', situation(1, [])],
    ['too early', situation(1, run(1, 8_000))],
    ['too early', situation(10, run(9, 8_000))],
    ['enough shards', situation(20, run(30, 8_000))],
    ['enough shards', situation(3, run(10, 1_600))],
    ['at maximum', situation(10, run(2, 80_000), { maximum: 10 })],
  ] as const)('names what it has decided: %s', (decision, given) => {
    expect(nextShardCount(given).decision).toBe(decision);
  });

  test('says why', () => {
    expect(nextShardCount(situation(1, run(2, 8_000))).reason).toBe(
      '8000 write units a second at 11:58, 50 % throttled, 8000 write units a second at 11:59, 50 % throttled, which needs 10 shards',
    );
    expect(nextShardCount(situation(10, run(2, 80_000), { maximum: 10 })).reason).toMatch(/but the maximum is 10$/);
    expect(nextShardCount(situation(20, run(30, 8_000))).reason).toMatch(/such as one hot item$/);
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

/** The most shards that are less than twice the need. */
const belowTwice = (needed: number): number => Math.ceil(MOST_OF_NEED * needed) - 1;

/** Of any two minutes. */
const mostWanted = (given: ValueSituation): number =>
  Math.max(0, ...given.minutes.map(({ admitted, throttled }) => (admitted + throttled) / 60));

describe('whatever it knows, nextShardCount', () => {
  test('increases by half at least, unless the maximum or twice the need is near, and stays below twice the need', () => {
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
        expect(shards * 1_000 * TARGET_UTILISATION).toBeLessThanOrEqual(MOST_OF_NEED * mostWanted(given) + 1e-6);
      }),
      { numRuns: 2_000 },
    );
    expect(increased).toBeGreaterThan(100);
  });

  test('increases only if the two newest minutes were throttled, since all writers know the count', () => {
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

  test('gives more writes no fewer shards, and a higher maximum no fewer either', () => {
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

  test('comes to rest when the load does, below twice the need', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 1, max: 3 }), (wanted, initial) => {
        let shards = initial;
        let steps = 0;
        for (let next = 0; next !== shards; steps += 1) {
          if (next !== 0) shards = next;
          next = nextShardCount(situation(shards, run(30, wanted), { maximum: 10_000 })).shards;
        }
        const needed = wanted / 1_000 / TARGET_UTILISATION;
        expect(shards).toBeGreaterThanOrEqual(Math.min(needed, Math.max(initial, belowTwice(needed))));
        expect(shards).toBeLessThanOrEqual(Math.max(initial, belowTwice(needed)));
        expect(steps).toBeLessThanOrEqual(5);
      }),
    );
  });
});
