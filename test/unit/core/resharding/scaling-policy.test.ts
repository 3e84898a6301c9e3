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

const updateAt = (minutesAgo: number, shardCount: number) => ({ time: NOW - minutesAgo * MINUTE, shardCount });
const sevenUpdates = [700, 600, 500, 400, 300, 200, 150];

describe('desiredShardCount', () => {
  test.each([
    ['high load – increases the count by a third', situation(6, 'high'), 8],
    ['high load and a count that is not a multiple of three – rounds up', situation(7, 'high'), 10],
    ['surging load – doubles the count', situation(8, 'surging'), 16],
    ['surging load – does not exceed maxShards', situation(40, 'surging'), 50],
    ['low load – halves the count', situation(8, 'low'), 4],
    ['low load and an odd count – rounds up', situation(7, 'low'), 4],
    ['low load – does not go below minShards', situation(3, 'low'), 2],
    ['low load at maxShards – halves the count', situation(50, 'low'), 25],
    ['normal load – keeps the count', situation(8, 'normal'), 8],
    ['a count below minShards – changes to minShards without a pause', situation(1, 'low', 1), 2],
    ['a count above maxShards – changes to maxShards without a pause', situation(60, 'high', 1), 50],
    ['high load 9 minutes after an update – waits', situation(6, 'high', 9), 6],
    ['high load 10 minutes after an update – increases the count', situation(6, 'high', 10), 8],
    ['low load 29 minutes after an update – waits', situation(8, 'low', 29), 8],
    ['low load 30 minutes after an update – halves the count', situation(8, 'low', 30), 4],
    ['low load and 3 updates left – halves the count', situation(8, 'low', ...sevenUpdates), 4],
    [
      'low load and 2 updates left – keeps the count, so that it can increase again',
      situation(8, 'low', ...sevenUpdates, 100),
      8,
    ],
    ['high load and 1 update left – increases the count', situation(6, 'high', ...sevenUpdates, 100, 50), 8],
    ['high load and no update left – keeps the count', situation(6, 'high', ...sevenUpdates, 100, 50, 40), 6],
    [
      'low load and enough updates to return to the maximum of the day – halves the count',
      { ...situation(8, 'low'), history: [updateAt(300, 32)] },
      4,
    ],
    [
      'low load and too few updates to return to the maximum of the day – keeps the count',
      { ...situation(8, 'low'), history: [updateAt(300, 32), ...sevenUpdates.map((m) => updateAt(m, 8))] },
      8,
    ],
    [
      'surging load within an hour after a rejected update – keeps the count',
      { ...situation(8, 'surging'), history: [updateAt(59, 0)] },
      8,
    ],
  ])('%s', (_, given, desired) => {
    expect(desiredShardCount(given)).toBe(desired);
  });

  test('requests at most ten updates in any 24 hours and stays within the bounds, for any load', () => {
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

  test('never removes shards if the load would then be high for the remaining shards', () => {
    for (let count = 2; count <= 1_000; count += 1) {
      const fewer = desiredShardCount({ ...situation(count, 'low'), minShards: 1, maxShards: 10_000 });
      expect((SCALE_IN_FRACTION * count) / fewer).toBeLessThan(1);
    }
  });
});
