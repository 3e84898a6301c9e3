import { decideCounts, type ValueMinutes } from '../../../../lib/core/adaptive-counts/decide-counts';
import type { GrownCount } from '../../../../lib/core/adaptive-counts/grown-count';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';

const NOON = Date.UTC(2026, 10, 21, 12);

const valueWith = (value: string | undefined, ...wanted: number[]): ValueMinutes => ({
  value,
  minutes: wanted.map((units, at) => ({
    start: NOON - (wanted.length - at) * 60_000,
    admitted: 30 * units,
    throttled: 30 * units,
  })),
});

const storedCount = (value: string, write: number, changedAt: number): GrownCount => ({
  value,
  write,
  read: write,
  version: 1,
  commit: 'c',
  changedBy: 'me',
  changedAt: new Date(changedAt).toISOString(),
  reason: 'because',
});

describe('decideCounts', () => {
  test('returns a decision for each value, with the busiest value first', () => {
    expect(
      decideCounts(adaptiveConfig, [], [valueWith('paid', 1_600, 1_600), valueWith('open', 8_000, 8_000)], NOON),
    ).toMatchObject([
      { value: 'open', from: 1, decision: 'increase', shards: 10 },
      { value: 'paid', from: 1, decision: 'increase', shards: 2 },
    ]);
  });

  test('starts from the stored count of a value, or from its count in the configuration', () => {
    const config = {
      ...adaptiveConfig,
      shards: { default: { write: 2, read: 2 }, byValue: { paid: { write: 9, read: 9 } } },
    };
    const old = NOON - 3_600_000;
    const values = [valueWith('open', 8_000, 8_000), valueWith('paid', 8_000, 8_000), valueWith('new', 8_000, 8_000)];
    const found = decideCounts(config, [storedCount('open', 5, old), storedCount('paid', 3, old)], values, NOON);
    expect(Object.fromEntries(found.map(({ value, from }) => [value, from]))).toEqual({ open: 5, paid: 9, new: 2 });
  });

  test('after a change, increases the count again only two minutes after the last process can use the old count', () => {
    const decideAt = (changedSecondsAgo: number) =>
      decideCounts(
        adaptiveConfig,
        [storedCount('open', 2, NOON - changedSecondsAgo * 1_000)],
        [valueWith('open', 8_000, 8_000)],
        NOON,
      )[0]!.decision;
    expect(decideAt(0)).not.toBe('increase');
    expect(decideAt(149)).not.toBe('increase');
    expect(decideAt(150)).toBe('increase');
  });

  test('never decides on a count above the maximum of the configuration', () => {
    const config = { ...adaptiveConfig, adaptive: { tableName: 'counts', maximum: 4 } };
    expect(decideCounts(config, [], [valueWith('open', 8_000, 8_000)], NOON)).toMatchObject([
      { decision: 'increase', shards: 4 },
    ]);
    expect(decideCounts(config, [storedCount('open', 4, 0)], [valueWith('open', 8_000, 8_000)], NOON)).toMatchObject([
      { decision: 'at maximum', shards: 4 },
    ]);
  });
});
