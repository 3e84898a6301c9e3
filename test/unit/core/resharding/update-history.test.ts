import fc from 'fast-check';
import {
  allowedAgainAt,
  DAILY_UPDATES,
  formatUpdateHistory,
  parseUpdateHistory,
  REFUSED,
  updatesLeft,
  updatesMade,
} from '../../../../lib/core/resharding/update-history';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 60 * 60 * 1000;

const updateAt = (time: number) => ({ time, shardCount: 8 });

describe('the history of updates', () => {
  test('can be stored in a tag and read again, with the last ten updates of a day in whole minutes', () => {
    const updates = fc.array(
      fc.record({
        time: fc.integer({ min: NOW - 24 * HOUR, max: NOW }),
        shardCount: fc.integer({ min: 1, max: 10_000 }),
      }),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(updates, (unsorted) => {
        const history = unsorted.sort((a, b) => a.time - b.time);
        const expected = history
          .slice(-DAILY_UPDATES)
          .map(({ time, shardCount }) => ({ time: time - (time % 60_000), shardCount }));
        expect(parseUpdateHistory(formatUpdateHistory(history), NOW)).toEqual(expected);
      }),
    );
  });

  test.each([
    ['a missing tag as an empty history', undefined, []],
    ['an empty tag as an empty history', '', []],
    ['only the valid entries of a tag', 'yesterday=8 - 2026-11-21T1100Z=8', [updateAt(NOW - HOUR)]],
    [
      'entries in any order of time',
      '2026-11-21T1130Z=8 2026-11-21T1100Z=8',
      [updateAt(NOW - HOUR), updateAt(NOW - HOUR / 2)],
    ],
    ['a future time as no update', '2026-11-21T1201Z=8', []],
    ['no updates older than a day', '2026-11-20T1159Z=8 2026-11-20T1200Z=8', [updateAt(NOW - 24 * HOUR)]],
    ['a rejection within the last hour', '2026-11-21T1101Z=0', [{ time: NOW - HOUR + 60_000, shardCount: REFUSED }]],
    ['an older rejection as no entry', '2026-11-21T1100Z=0', []],
  ])('the parser reads %s', (_, tag, history) => {
    expect(parseUpdateHistory(tag, NOW)).toEqual(history);
  });

  test('shows how many updates are left, and at which time several updates are allowed again', () => {
    const history = Array.from({ length: 8 }, (_, index) => updateAt(NOW - (20 - index) * HOUR));
    expect(updatesLeft(history)).toBe(2);
    expect(allowedAgainAt(history, 2)).toBeUndefined();
    expect(allowedAgainAt(history, 3)).toEqual(new Date(NOW + 4 * HOUR + 60_000));
    expect(allowedAgainAt(history, 10)).toEqual(new Date(NOW + 11 * HOUR + 60_000));
    expect(allowedAgainAt(history, 11)).toBeUndefined();
  });

  test('after Kinesis has rejected an update, has no updates left, and cannot tell when updates are allowed again', () => {
    const history = [updateAt(NOW - HOUR), { time: NOW, shardCount: REFUSED }];
    expect(updatesLeft(history)).toBe(0);
    expect(updatesMade(history)).toEqual([updateAt(NOW - HOUR)]);
    expect(allowedAgainAt(history, 1)).toBeUndefined();
    const full = Array.from({ length: DAILY_UPDATES - 1 }, (_, hour) => updateAt(NOW - (12 - hour) * HOUR));
    expect(allowedAgainAt([...full, { time: NOW, shardCount: REFUSED }], 1)).toBeUndefined();
  });
});
