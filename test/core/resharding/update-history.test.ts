import fc from 'fast-check';
import {
  allowedAgainAt,
  DAILY_UPDATES,
  formatUpdateHistory,
  parseUpdateHistory,
  updatesLeft,
} from '../../../lib/core/resharding/update-history';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 60 * 60 * 1000;

describe('the history of updates', () => {
  test('survives a tag, to the second, with the latest ten of a day', () => {
    const times = fc.array(fc.integer({ min: NOW - 24 * HOUR + 1_000, max: NOW }), { maxLength: 14 });
    fc.assert(
      fc.property(times, (unsorted) => {
        const history = unsorted.sort((a, b) => a - b);
        const expected = history.slice(-DAILY_UPDATES).map((time) => time - (time % 1_000));
        expect(parseUpdateHistory(formatUpdateHistory(history), NOW)).toEqual(expected);
      }),
    );
  });

  test('is a value that a tag can have', () => {
    const tag = formatUpdateHistory(Array.from({ length: DAILY_UPDATES }, (_, index) => NOW - index * HOUR));
    expect(tag).toMatch(/^[\p{L}\p{Z}\p{N}_.:/=+\-%@]{1,256}$/u);
  });

  test.each([
    ['no tag', undefined, []],
    ['an empty tag', '', []],
    ['a tag that others have written', 'yesterday - 2026-11-21T11:00:00Z', [NOW - HOUR]],
    ['a time to come', '2026-11-21T12:00:01Z', []],
    ['what is older than a day', '2026-11-20T12:00:00Z 2026-11-20T12:00:01Z', [NOW - 24 * HOUR + 1_000]],
  ])('makes sense of %s', (_, tag, history) => {
    expect(parseUpdateHistory(tag, NOW)).toEqual(history);
  });

  test('says how many updates are left, and when so many are allowed again', () => {
    const history = Array.from({ length: 8 }, (_, index) => NOW - (20 - index) * HOUR);
    expect(updatesLeft(history)).toBe(2);
    expect(allowedAgainAt(history, 2)).toBeUndefined();
    expect(allowedAgainAt(history, 3)).toEqual(new Date(NOW + 4 * HOUR));
    expect(allowedAgainAt(history, 10)).toEqual(new Date(NOW + 11 * HOUR));
    expect(allowedAgainAt(history, 11)).toBeUndefined();
  });
});
