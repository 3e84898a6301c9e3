import { CountHistory } from '../../../../../bin/local/console/count-history';
import type { GrownCount } from '../../../../../lib/core/adaptive-counts/grown-count';

let nowMs = 0;
let stored: GrownCount[] = [];
const history = () => new CountHistory({ readCounts: async () => stored }, () => nowMs);

const count = (value: string | undefined, version: number, write: number, read = write): GrownCount => ({
  ...{ value, version, write, read, commit: `${version}` },
  ...{ changedBy: 'tester', changedAt: '2026-01-01T00:00:00Z', reason: 'throttled' },
});

beforeEach(() => {
  nowMs = 0;
  stored = [];
});

test('CountHistory adds a step for each change of a count, and no step if a poll finds no change', async () => {
  const seen = history();
  await seen.poll();
  for (const [atMs, changed] of [
    [1_000, count('open', 1, 1, 4)],
    [46_000, count('open', 2, 4)],
  ] as const) {
    nowMs = atMs;
    stored = [changed];
    await seen.poll();
    nowMs += 500;
    await seen.poll();
  }
  expect(seen.latest(10)).toEqual([
    {
      value: 'open',
      steps: [
        expect.objectContaining({ atMs: 1_000, write: 1, read: 4, changedBy: 'tester', reason: 'throttled' }),
        expect.objectContaining({ atMs: 46_000, write: 4, read: 4 }),
      ],
    },
  ]);
});

test('CountHistory lists the values in the order of their latest changes, the most recent change first', async () => {
  const seen = history();
  stored = [count('a', 1, 2), count('b', 1, 2), count(undefined, 1, 2)];
  await seen.poll();
  stored = [count('a', 2, 4), count('b', 1, 2), count(undefined, 1, 2)];
  await seen.poll();
  expect(seen.latest(2).map(({ value }) => value)).toEqual(['a', '']);
  expect(seen.size).toBe(3);
});

test('CountHistory keeps its values and reports the problem while it cannot read counts', async () => {
  let fails = false;
  const readCounts = async () => {
    if (fails) throw new Error('no such table');
    return [count('open', 1, 2)];
  };
  const seen = new CountHistory({ readCounts }, () => 0);
  await seen.poll();
  fails = true;
  await seen.poll();
  expect([seen.problem, seen.size]).toEqual(['no such table', 1]);
  fails = false;
  await seen.poll();
  expect(seen.problem).toBeUndefined();
});

test('CountHistory keeps the last hundred steps of a value', async () => {
  const seen = history();
  for (let version = 1; version <= 150; version++) {
    stored = [count('open', version, version)];
    await seen.poll();
  }
  const { steps } = seen.latest(1)[0]!;
  expect([steps.length, steps[0]!.write, steps.at(-1)!.write]).toEqual([100, 51, 150]);
});
