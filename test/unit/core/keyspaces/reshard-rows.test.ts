import { types } from 'cassandra-driver';
import {
  type CqlClient,
  type CqlRow,
  findStrayRows,
  type ReshardRowsReport,
  reshardRows,
  type ShardedKeyspacesConfig,
  type StrayRowsReport,
  shardColumns,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../../support/keyspaces-config';

const five = keyspacesConfig({ shards: { default: { write: 5, read: 20 } } });
const twenty: ShardedKeyspacesConfig = { ...five, shards: { default: { write: 20, read: 20 } } };
const ROWS = 100;

/** A client with this `execute`. The client also responds to the query for the partitioner. */
function clientOf(execute: CqlClient['execute']): CqlClient {
  const partitioner = 'org.apache.cassandra.dht.Murmur3Partitioner';
  return {
    execute: async (...statement) =>
      statement[0].includes('system.local') ? { rows: [{ partitioner }] } : execute(...statement),
  };
}

/** A table without write times, such as a table in Amazon Keyspaces without client-side timestamps. */
function withoutWriteTimes(table: FakeRowTable): FakeRowTable {
  table.hasWriteTime = () => false;
  return table;
}

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

test('findStrayRows counts no strays while the strategy is product; after the strategy becomes calculated, reshardRows moves the rows', async () => {
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

test('reshardRows ends after the given number of attempts if every attempt of a request is throttled', async () => {
  const clock = new VirtualClock();
  const table = filled();
  table.before = () => {
    throw throttled();
  };
  await expect(clock.runUntil(reshardRows(table, twenty, { clock, attempts: 3 }))).rejects.toThrow('timed out');
  expect(table.sent).toHaveLength(3);
});

test.each([
  ['calculated', [1, 3], 5],
  ['random', [3], 4],
] as const)(
  'a stray is hidden if no query for its value reads the shard of the stray: strategy %s',
  async (strategy, visible, strays) => {
    const two = keyspacesConfig({ strategy, shards: { default: { write: 2, read: 3 } } });
    const table = new FakeRowTable(two);
    // Queries read the shards 1 to 3. The calculated shard of the row is 2.
    for (let shard = 0; shard < 6; shard++) table.insert({ day: 'd', id: 2, body: '', shard });
    const hidden: number[] = [];
    const notHidden: number[] = [];
    const report = await findStrayRows(table, two, {
      onStray: ({ shard, isHidden }) => void (isHidden ? hidden : notHidden).push(shard),
    });
    expect(hidden).toEqual([0, 4, 5]);
    expect(notHidden).toEqual(visible);
    expect(report).toMatchObject({ strays, hidden: 3 });
  },
);

test('an aborted reshardRows completes the current row, and the next run continues from the start of the page of this row', async () => {
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

test('a scan reports a resume point with each page except the last page', async () => {
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

test('reshardRows rejects a resume point of findStrayRows, which has moved no rows', async () => {
  const points: (string | undefined)[] = [];
  await findStrayRows(filled(), twenty, { onProgress: ({ resumePoint }) => void points.push(resumePoint) });
  const table = filled();
  await expect(reshardRows(table, twenty, { resumeFrom: points[0] })).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  expect(table.sent).toEqual([]);
});

test('reshardRows moves at most movesPerSecond rows per second', async () => {
  const clock = new VirtualClock();
  const table = filled();
  const before = clock.now();
  const { outcomes } = await clock.runUntil(reshardRows(table, twenty, { clock, movesPerSecond: 10 }));
  expect(clock.now() - before).toBeCloseTo((outcomes.moved - 1) * 100, 5);
});

test('if the mover fails after it copied a row, and the writer then deletes the row in both shards, the row stays deleted', async () => {
  const table = filled();
  const row = table.all.find((each) => each.shard !== shardColumns(twenty, each).shard)!;
  const copy = { ...row, ...shardColumns(twenty, row) };
  table.after = (query) => {
    if (!query.startsWith('INSERT')) return;
    throw new Error('connection lost');
  };
  await expect(reshardRows(table, twenty)).rejects.toThrow('connection lost');
  table.after = () => {};
  table.delete(row);
  table.delete(copy);
  await reshardRows(table, twenty);
  expect(table.all.filter(({ id }) => id === row.id)).toEqual([]);
});

test.each([
  ['a list', [new Date(Number.NaN)]],
  ['a user-defined type', { at: new Date(Number.NaN) }],
  ['a tuple', new types.Tuple(1, new Date(Number.NaN))],
])(
  'if the driver cannot represent a timestamp in %s, the mover writes nothing and throws an error that describes the row',
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

/** A table with one stray. */
function ofOneStray(columns: CqlRow, config = twenty) {
  const id = [0, 1, 2, 3].find((each) => shardColumns(config, { day: 'd', id: each }).shard !== 7)!;
  const row: CqlRow = { day: 'd', id, shard: 7, ...columns };
  const table = new FakeRowTable(config);
  table.insert(row);
  return { table, row, copy: { ...row, ...shardColumns(config, row) } };
}

test('a stray that its writer changes during the move is moved with the changed value', async () => {
  const { table, row, copy } = ofOneStray({ body: 'old' });
  let changed = false;
  table.before = (query) => {
    if (!query.startsWith('DELETE') || changed) return;
    changed = true;
    table.insert({ ...row, body: 'new' });
  };
  const readOptions: unknown[] = [];
  const execute: CqlClient['execute'] = (query, parameters, options) => {
    if (query.includes('"shard" = ?') && query.startsWith('SELECT')) readOptions.push(options);
    return table.execute(query, parameters, options);
  };
  const { outcomes } = await reshardRows({ execute }, twenty);
  expect([table.all, outcomes]).toEqual([[{ ...copy, body: 'new' }], { moved: 1, settled: 0, refused: 0 }]);
  expect(new Set(readOptions.map((options) => JSON.stringify(options)))).toEqual(
    new Set([JSON.stringify({ prepare: true, consistency: 6, isIdempotent: true })]),
  );
});

test('a static column is not moved, because it does not belong to a row', async () => {
  const more = { ...twenty, columns: ['body', 'motto'] };
  const { table, copy } = ofOneStray({ body: 'row', motto: 'of the day' }, more);
  await reshardRows(table, more, { staticColumns: ['motto'] });
  const { motto: _, ...moved } = copy;
  expect(table.all).toEqual([moved]);
});

test('if a row with the same key is in the correct shard, reshardRows treats the stray as older and deletes it', async () => {
  const { table, copy } = ofOneStray({ body: 'old' });
  table.insert({ ...copy, body: 'new' });
  const { outcomes } = await reshardRows(table, twenty);
  expect([table.all, outcomes]).toEqual([[{ ...copy, body: 'new' }], { moved: 0, settled: 1, refused: 0 }]);
});

test('if the response to the last statement of a move is lost, and the writer then deletes the row, the row stays deleted', async () => {
  const clock = new VirtualClock();
  const { table, copy } = ofOneStray({ body: 'row' });
  table.after = (query) => {
    if (!query.startsWith('DELETE')) return;
    table.after = () => {};
    table.delete(copy);
    throw throttled();
  };
  const { outcomes } = await clock.runUntil(reshardRows(table, twenty, { clock }));
  expect([table.all, outcomes]).toEqual([[], { moved: 0, settled: 1, refused: 0 }]);
  // The mover reads the row again before it writes, so that a row that was deleted in the meantime stays deleted.
  expect(table.sent.map((query) => query.split(' ')[0]).join(' ')).toMatch(/^SELECT [^I]*INSERT SELECT DELETE SELECT$/);
});

test('in a table without write times, a move sends two conditional statements that the driver does not retry, and makes no pause if movesPerSecond is absent', async () => {
  const clock = new VirtualClock();
  const table = withoutWriteTimes(ofOneStray({ body: 'row' }).table);
  const sent: unknown[] = [];
  const execute: CqlClient['execute'] = (query, parameters, options) => {
    if (!query.includes('WRITETIME')) sent.push([query.split(' ')[0], options]);
    return table.execute(query, parameters, options);
  };
  const before = clock.now();
  await clock.runUntil(reshardRows({ execute }, twenty, { clock }));
  const write = { prepare: true, consistency: 6, serialConsistency: 9, isIdempotent: false };
  expect(sent).toEqual([
    ['SELECT', { prepare: false, consistency: 10, isIdempotent: true }],
    ['SELECT', { prepare: true, consistency: 6, isIdempotent: true, fetchSize: 1_000 }],
    ['INSERT', write],
    ['DELETE', write],
  ]);
  expect(clock.now()).toBe(before);
});

test('reshardRows moves a timestamp outside the range of Date exactly, and does not change other timestamps of the page', async () => {
  const { row } = ofOneStray({});
  const lost = { ...row, body: new Date(Number.NaN) };
  const usual = { ...row, id: row.id + 1, body: new Date(0) };
  const none = { ...row, id: row.id + 2, body: null };
  const sent: [string, unknown[]][] = [];
  const execute: CqlClient['execute'] = async (query, parameters) => {
    if (!query.startsWith('SELECT')) {
      sent.push([query, parameters]);
      return { rows: [{ '[applied]': true }] };
    }
    if (query.includes('WRITETIME')) throw Object.assign(new Error('no write times'), { code: 0x2200 });
    const isWhole = query.startsWith('SELECT toUnixTimestamp("body") AS "body in milliseconds", ');
    const times = ['9000000000000000', 0, null];
    return {
      rows: [lost, usual, none].map((each, index) => ({
        ...each,
        ...(isWhole && { 'body in milliseconds': times[index] }),
      })),
    };
  };
  const strays: unknown[] = [];
  await reshardRows(clientOf(execute), twenty, { onStray: ({ row: stray }) => void strays.push(stray.body) });
  expect(strays.map(String)).toEqual(['9000000000000000', String(new Date(0)), 'null']);
  expect(sent[0]).toEqual([
    expect.stringContaining(' VALUES (?, ?, ?, blobAsTimestamp(0x001ff973cafa8000)) IF NOT EXISTS'),
    ['d', shardColumns(twenty, row).shard, row.id],
  ]);
  expect(sent[2]![1]).toContainEqual(new Date(0));
});

test('a row with an invalid key ends the scan with an error that describes the row', async () => {
  const byPerson = keyspacesConfig({
    clusteringColumns: [
      { name: 'id', type: 'int', order: 'ASC' },
      { name: 'person_id', type: 'int', order: 'ASC' },
    ],
  });
  const execute = async () => ({ rows: [{ day: 'd', shard: 1, id: 1, person_id: 'x', body: '' }] });
  await expect(findStrayRows(clientOf(execute), byPerson)).rejects.toThrow(
    'a row of shard 1 of tracker.blogs has a value in column person_id that is not a valid int',
  );
  const id = {
    toString() {
      throw new Error('unwritable');
    },
  };
  const unwritable = async () => ({ rows: [{ day: 'd', shard: 1, id, person_id: 1, body: '' }] });
  await expect(findStrayRows(clientOf(unwritable), byPerson)).rejects.toThrow('unwritable');
});

test('a scan reads at most rowsPerSecond rows per second, and its pauses are shorter if its requests are slow', async () => {
  const clock = new VirtualClock();
  const table = filled();
  const { execute } = clientOf(async (...statement) => {
    await clock.sleep(300);
    return table.execute(...statement);
  });
  const before = clock.now();
  await clock.runUntil(findStrayRows({ execute }, five, { clock, rowsPerSecond: 10 }));
  expect(clock.now() - before).toBeCloseTo(9_300, 5);
});

test.each<[unknown, string]>([
  [{ movesPerSecond: 0 }, 'movesPerSecond must be a number above 0'],
  [{ staticColumns: ['title'] }, 'staticColumns must be made of body, got "title"'],
  [null, 'options must be an object, got null'],
  [
    { resumeFrom: 'x' },
    'resumeFrom must be the resumePoint of a report of the same function, table, counts, and segment',
  ],
  [{ attempts: 0 }, 'attempts must be a whole number of at least 1'],
  [{ rowsPerSecond: 0 }, 'rowsPerSecond must be a number above 0'],
  [{ totalSegments: 0 }, 'totalSegments must be a whole number from 1'],
  [{ totalSegments: 2, segment: 2 }, 'segment must be a whole number from 0 to 1'],
])('reshardRows rejects %j', async (options, message) => {
  const table = filled();
  await expect(reshardRows(table, twenty, options as never)).rejects.toThrow(message);
  expect(table.sent).toEqual([]);
});
