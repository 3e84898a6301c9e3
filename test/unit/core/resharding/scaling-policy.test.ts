import fc from 'fast-check';
import {
  desiredShardCount,
  type Load,
  SCALE_IN_PAUSE_MS,
  SCALE_OUT_PAUSE_MS,
} from '../../../../lib/core/resharding/scaling-policy';
import { shardCountSteps } from '../../../../lib/core/resharding/shard-count-steps';
import { SCALE_IN_FRACTION } from '../../../../lib/core/resharding/thresholds';
import type { PastUpdate } from '../../../../lib/core/resharding/update-history';

const NOW = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const situation = (openShardCount: number, load: Load, ...minutesAgo: number[]) => ({
  openShardCount,
  load,
  minShards: 2,
  maxShards: 50,
  history: minutesAgo.map((minutes) => ({ time: NOW - minutes * MINUTE, shardCount: openShardCount })),
  now: NOW,
});

const was = (minutesAgo: number, shardCount: number) => ({ time: NOW - minutesAgo * MINUTE, shardCount });
const seven = [700, 600, 500, 400, 300, 200, 150];

describe('desiredShardCount', () => {
  test.each([
    ['grows by a third under a high load', situation(6, 'high'), 8],
    ['rounded up', situation(7, 'high'), 10],
    ['doubles under a surging one', situation(8, 'surging'), 16],
    ['not beyond the most', situation(40, 'surging'), 50],
    ['halves under a low one', situation(8, 'low'), 4],
    ['half of an odd count being rounded up', situation(7, 'low'), 4],
    ['not below the fewest', situation(3, 'low'), 2],
    ['from the most as from any other', situation(50, 'low'), 25],
    ['and leaves it at that otherwise', situation(8, 'normal'), 8],
    ['keeps new bounds at once, whatever the load', situation(1, 'low', 1), 2],
    ['from above too', situation(60, 'high', 1), 50],
    ['waits for a scale-out to show', situation(6, 'high', 9), 6],
    ['but not longer', situation(6, 'high', 10), 8],
    ['waits half an hour before it takes more away', situation(8, 'low', 29), 8],
    ['but not longer', situation(8, 'low', 30), 4],
    [
      'takes shards away while the day has updates to give them back, and one to spare',
      situation(8, 'low', ...seven),
      4,
    ],
    ['and no longer', situation(8, 'low', ...seven, 100), 8],
    ['the others are for growing', situation(6, 'high', ...seven, 100, 50), 8],
    ['until none is left', situation(6, 'high', ...seven, 100, 50, 40), 6],
    ['counts the way back from the most of the day', { ...situation(8, 'low'), history: [was(300, 32)] }, 4],
    ['which may be too far', { ...situation(8, 'low'), history: [was(300, 32), ...seven.map((m) => was(m, 8))] }, 8],
    ['asks for nothing for an hour after it was refused', { ...situation(8, 'surging'), history: [was(59, 0)] }, 8],
  ])('%s', (_, given, desired) => {
    expect(desiredShardCount(given)).toBe(desired);
  });

  test('under any load spends at most ten updates in any day, and keeps the bounds', () => {
    const days = fc.record({
      loads: fc.array(
        fc.record({
          load: fc.constantFrom<Load>('surging', 'high', 'normal', 'low'),
          minutes: fc.integer({ min: 1, max: 200 }),
        }),
        { maxLength: 60 },
      ),
      min: fc.integer({ min: 1, max: 8 }),
      max: fc.integer({ min: 8, max: 200 }),
    });
    fc.assert(
      fc.property(days, ({ loads, min, max }) => {
        let count = min;
        let now = NOW;
        const updates: PastUpdate[] = [];
        for (const { load, minutes } of loads) {
          for (let minute = 0; minute < minutes; minute += 1) {
            now += MINUTE;
            const history = updates.filter(({ time }) => time > now - DAY);
            const bounds = { minShards: min, maxShards: max };
            const desired = desiredShardCount({ openShardCount: count, load, history, now, ...bounds });
            if (desired === count) continue;
            expect(history.length).toBeLessThan(10);
            expect(now - (history.at(-1)?.time ?? 0)).toBeGreaterThanOrEqual(
              desired > count ? SCALE_OUT_PAUSE_MS : SCALE_IN_PAUSE_MS,
            );
            [count] = shardCountSteps(count, desired) as [number];
            updates.push({ time: now, shardCount: count });
          }
        }
        expect(count).toBeGreaterThanOrEqual(min);
        expect(count).toBeLessThanOrEqual(max);
      }),
      { numRuns: 50 },
    );
  });

  test('never takes away what the same load would ask back', () => {
    for (let count = 2; count <= 1_000; count += 1) {
      const fewer = desiredShardCount({ ...situation(count, 'low'), minShards: 1, maxShards: 10_000 });
      expect((SCALE_IN_FRACTION * count) / fewer).toBeLessThan(1);
    }
  });
});
