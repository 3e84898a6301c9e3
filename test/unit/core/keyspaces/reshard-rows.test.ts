import {
  type CqlRow,
  findStrayRows,
  type ReshardRowsReport,
  reshardRows,
  type ShardedKeyspacesConfig,
  type StrayRowsReport,
  shardColumns,
} from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const five = keyspacesConfig({ shards: { default: { write: 5, read: 20 } } });
const twenty: ShardedKeyspacesConfig = { ...five, shards: { default: { write: 20, read: 20 } } };
const ROWS = 100;

function filled(): FakeRowTable {
  const table = new FakeRowTable(five);
  for (let id = 0; id < ROWS; id++) {
    const row = { day: 'd', id, body: `row ${id}` };
    table.insert({ ...row, ...shardColumns(five, row) });
  }
  return table;
}

function expectMoved(table: FakeRowTable): void {
  const bodies = table.all.map(({ id, body }) => [id, body]).sort(([a], [b]) => a - b);
  expect(bodies).toEqual(Array.from({ length: ROWS }, (_, id) => [id, `row ${id}`]));
  for (const row of table.all) expect(row.shard).toBe(shardColumns(twenty, row).shard);
}

test('rows that others have placed by the product of the code points move to calculated shards, and none is a stray before', async () => {
  const product: ShardedKeyspacesConfig = { ...twenty, strategy: 'product' };
  const table = new FakeRowTable(twenty);
  for (let id = 0; id < ROWS; id++) {
    const shard = 1 + (Array.from(String(id)).reduce((all, digit) => all * digit.codePointAt(0)!, 1) % 20);
    table.insert({ day: 'd', id, body: `row ${id}`, shard });
  }
  expect(await findStrayRows(table, product)).toMatchObject({ rowsScanned: ROWS, strays: 0 });
  const { outcomes, strays } = await reshardRows(table, twenty);
  expect(strays).toBeGreaterThan(ROWS / 2);
  expect(outcomes).toEqual({ moved: strays, settled: 0, refused: 0 });
  expectMoved(table);
});

const throttled = () => Object.assign(new Error('timed out'), { name: 'ResponseError', code: 0x1100 });

test.each([1, 2, 3, 4, 5])(
  'requests that are throttled, before or after they are applied, are sent again, and no row is lost or doubled: seed %d',
  async (seed) => {
    const random = seededRandom(seed);
    const clock = new VirtualClock();
    const table = filled();
    const maybe = () => {
      if (random() < 0.2) throw throttled();
    };
    table.before = maybe;
    table.after = maybe;
    const report = await clock.runUntil(reshardRows(table, twenty, { clock, random, attempts: 100 }));
    expect(report).toMatchObject({ rowsScanned: expect.any(Number), outcomes: { refused: 0 } });
    expect(report.resumePoint).toBeUndefined();
    expectMoved(table);
  },
);

test('a request that is throttled again and again ends the move after as many attempts as are allowed', async () => {
  const clock = new VirtualClock();
  const table = filled();
  table.before = () => {
    throw throttled();
  };
  await expect(clock.runUntil(reshardRows(table, twenty, { clock, attempts: 3 }))).rejects.toThrow('timed out');
  expect(table.sent).toHaveLength(3);
});

test('the ten attempts of a request wait for 16 seconds on average', async () => {
  const clock = new VirtualClock();
  const table = filled();
  table.before = () => {
    throw throttled();
  };
  const before = clock.now();
  const finding = findStrayRows(table, five, { clock, random: () => 0.5 });
  await expect(clock.runUntil(finding)).rejects.toThrow('timed out');
  expect([table.sent.length, clock.now() - before]).toEqual([10, 16_350]);
});

test('a stray is hidden if no query for its value reads its shard', async () => {
  const two = keyspacesConfig({ shards: { default: { write: 2, read: 3 } } });
  const table = new FakeRowTable(two);
  // The number of the shard is one of those that are read, one more of these, or none.
  for (let shard = 0; shard < 6; shard++) table.insert({ day: 'd', id: 1, body: '', shard });
  const { shard: own } = shardColumns(two, { day: 'd', id: 1 });
  const hidden: number[] = [];
  const seen: number[] = [];
  const report = await findStrayRows(table, two, {
    onStray: ({ shard, isHidden }) => void (isHidden ? hidden : seen).push(shard),
  });
  expect(hidden).toEqual([0, 4, 5]);
  expect(seen).toEqual([1, 2, 3].filter((shard) => shard !== own));
  expect(report).toMatchObject({ strays: 5, hidden: 3 });
});

test.each([2, 3, 1_000])('%d segments have each token once, from the first to the last', async (totalSegments) => {
  const ends: [bigint, bigint][] = [];
  const execute = async (query: string) => {
    const [, first, last] = / >= (-?\d+) AND .* <= (-?\d+)$/.exec(query)!;
    ends.push([BigInt(first!), BigInt(last!)]);
    return { rows: [] };
  };
  for (let segment = 0; segment < totalSegments; segment++)
    await findStrayRows({ execute }, five, { segment, totalSegments });
  const firsts = ends.map(([first]) => first);
  const lasts = ends.map(([, last]) => last);
  expect(firsts).toEqual([-(2n ** 63n), ...lasts.slice(0, -1).map((last) => last + 1n)]);
  expect(lasts.at(-1)).toBe(2n ** 63n - 1n);
});

test('what no attempt can overcome ends it at once', async () => {
  const table = filled();
  table.before = () => {
    throw Object.assign(new Error('unauthorized'), { name: 'ResponseError', code: 0x2100 });
  };
  await expect(reshardRows(table, twenty)).rejects.toThrow('unauthorized');
  expect(table.sent).toHaveLength(1);
});

test('a move that is aborted ends with the row that is being moved, and goes on from the begin of its page', async () => {
  const clock = new VirtualClock();
  const table = filled();
  const abort = new AbortController();
  let moved = 0;
  const first = await clock.runUntil(
    reshardRows(table, twenty, {
      clock,
      movesPerSecond: 1,
      signal: abort.signal,
      onStray: () => {
        moved += 1;
        if (moved === 3) abort.abort();
      },
    }),
  );
  expect(first.outcomes.moved).toBe(3);
  expect(first.resumePoint).toBeDefined();
  const rest: ReshardRowsReport = await reshardRows(table, twenty, { resumeFrom: first.resumePoint });
  expect(rest.resumePoint).toBeUndefined();
  expect(first.rowsScanned + rest.rowsScanned).toBeGreaterThanOrEqual(ROWS);
  expectMoved(table);
});

test('a scan tells with each page where it can be gone on from, and with the last one nothing', async () => {
  const points: (string | undefined)[] = [];
  const onProgress = ({ resumePoint }: StrayRowsReport): void => void points.push(resumePoint);
  const { resumePoint, rowsScanned } = await findStrayRows(filled(), five, { onProgress });
  expect({ resumePoint, rowsScanned }).toEqual({ resumePoint: undefined, rowsScanned: ROWS });
  expect(new Set(points).size).toBe(10);
  const rest = await Promise.all(
    points.slice(0, -1).map((resumeFrom) => findStrayRows(filled(), five, { resumeFrom })),
  );
  expect(rest.map((report) => report.rowsScanned)).toEqual([90, 80, 70, 60, 50, 40, 30, 20, 10]);
});

test('an abort wakes a move that waits for its budget', async () => {
  const clock = new VirtualClock();
  const table = filled();
  const abort = new AbortController();
  const moving = reshardRows(table, twenty, { clock, movesPerSecond: 0.001, signal: abort.signal });
  clock.schedule(() => abort.abort(), 1_500);
  const before = clock.now();
  const { outcomes } = await clock.runUntil(moving);
  expect(outcomes.moved).toBe(1);
  expect(clock.now() - before).toBe(1_500);
});

test('moves keep to their budget', async () => {
  const clock = new VirtualClock();
  const table = filled();
  const before = clock.now();
  const { outcomes } = await clock.runUntil(reshardRows(table, twenty, { clock, movesPerSecond: 10 }));
  expect(clock.now() - before).toBeCloseTo((outcomes.moved - 1) * 100, 5);
});

test('a row that its writer deletes where the former count put it, and then where it belongs, stays deleted when the mover is lost', async () => {
  const table = filled();
  const row = table.all.find((each) => each.shard !== shardColumns(twenty, each).shard)!;
  const copy = { ...row, ...shardColumns(twenty, row) };
  table.after = (query) => {
    if (!query.startsWith('INSERT')) return;
    throw new Error('lost');
  };
  await expect(reshardRows(table, twenty)).rejects.toThrow('lost');
  table.after = () => {};
  table.delete(row);
  table.delete(copy);
  await reshardRows(table, twenty);
  expect(table.all.filter(({ id }) => id === row.id)).toEqual([]);
});

test.each(['row', null])('a row whose body is %j, deleted while it is copied, stays deleted', async (body) => {
  const table = new FakeRowTable(five);
  const [row] = [0, 1, 2, 3]
    .map((id) => ({ day: 'd', id, body }))
    .map((each): CqlRow => ({ ...each, ...shardColumns(five, each) }))
    .filter((each) => each.shard !== shardColumns(twenty, each).shard);
  table.insert(row!);
  table.before = (query) => {
    if (query.startsWith('INSERT')) table.delete(row!);
  };
  const { outcomes } = await reshardRows(table, twenty);
  expect([table.all, outcomes]).toEqual([[], { moved: 0, settled: 1, refused: 0 }]);
});

test.each([
  ['a list', [new Date(Number.NaN)]],
  ['a set', new Set([new Date(Number.NaN)])],
  ['a map', new Map([['a', new Date(Number.NaN)]])],
  ['a type of the table', { at: new Date(Number.NaN) }],
])(
  'a time in %s that the driver has lost ends the move with where it is, before anything is written',
  async (_, body) => {
    const table = filled();
    const stray = table.all.find((row) => row.shard !== shardColumns(twenty, row).shard)!;
    table.insert({ ...stray, body });
    const moving = reshardRows(table, twenty);
    await expect(moving).rejects.toThrow(
      `a row of shard ${stray.shard} of tracker.blogs has a value in column body that is no`,
    );
    expect(table.all).toContainEqual({ ...stray, body });
  },
);

test.each([
  [{ attempts: 0 }, 'attempts must be a whole number from 1'],
  [{ attempts: 1.5 }, 'attempts must be a whole number from 1'],
  [{ rowsPerSecond: 0 }, 'rowsPerSecond must be a number of rows a second that is greater than 0'],
  [{ rowsPerSecond: Number.NaN }, 'rowsPerSecond must be a number of rows a second that is greater than 0'],
  [{ totalSegments: 0 }, 'totalSegments must be a whole number from 1'],
  [{ totalSegments: 2, segment: 2 }, 'segment must be a whole number from 0 to 1'],
])('refuses %j', async (options, message) => {
  const table = filled();
  await expect(findStrayRows(table, twenty, options)).rejects.toThrow(message);
  expect(table.sent).toEqual([]);
});
