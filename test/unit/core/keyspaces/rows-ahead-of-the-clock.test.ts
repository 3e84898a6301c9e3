import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type CqlRow, reshardRows, type StrayRowOutcome, shardColumns } from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../../support/keyspaces-config';
import { randomRuns } from '../../../support/random-runs';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const columns = ['body', 'version'];
const five = keyspacesConfig({ columns, shards: { default: { write: 5, read: 20 } } });
const twenty = { ...five, shards: { default: { write: 20, read: 20 } } };

/** A row in its old shard, and the changes that clients make with future timestamps. */
interface DrawnRow {
  body: string | null;
  version: number | null;
  isInsertedAhead: boolean;
  updatedAhead: 'body' | 'version' | undefined;
  /** The column that a writer with the new count has left out when it wrote the row again. */
  rewrittenWithout: 'body' | 'version' | undefined;
  /** The column, or the whole row, that a client has deleted in the new shard with a future timestamp. */
  deletedAhead: 'row' | 'body' | 'version' | undefined;
}

const drawnRow = fc.record<DrawnRow>({
  body: fc.constantFrom('x', null),
  version: fc.constantFrom(1, null),
  isInsertedAhead: fc.boolean(),
  updatedAhead: fc.constantFrom(undefined, 'body', 'version'),
  rewrittenWithout: fc.constantFrom(undefined, undefined, 'body', 'version'),
  deletedAhead: fc.constantFrom(undefined, undefined, 'row', 'body', 'version'),
});

function filled(rows: readonly DrawnRow[]): FakeRowTable {
  const table = new FakeRowTable(five);
  for (const [id, { body, version, isInsertedAhead, updatedAhead, rewrittenWithout, deletedAhead }] of rows.entries()) {
    const key = { day: 'd', id };
    const former: CqlRow = { ...key, ...shardColumns(five, key) };
    const place: CqlRow = { ...key, ...shardColumns(twenty, key) };
    const future = table.now + HOUR;
    table.insert({ ...former, body, version }, isInsertedAhead ? future : undefined);
    if (updatedAhead !== undefined) table.update({ ...former, [updatedAhead]: updatedAhead }, future + 1);
    if (former.shard === place.shard) continue;
    if (rewrittenWithout !== undefined) table.insert({ ...place, body, version, [rewrittenWithout]: null });
    if (deletedAhead === 'row') table.delete(place, future);
    else if (deletedAhead !== undefined) table.update({ ...place, [deletedAhead]: null }, future);
  }
  return table;
}

const throttle = () => Object.assign(new Error('timed out'), { code: 0x1100 });

test('reshardRows – rows and deletes with future timestamps, throttling and interrupted runs – loses no value, and leaves a row in two shards only if it rejects the row', async () => {
  const property = fc.asyncProperty(
    fc.array(drawnRow, { minLength: 1, maxLength: 5 }),
    fc.constantFrom(columns, ['body'], ['version']),
    fc.constantFrom(
      () => undefined,
      throttle,
      () => new Error('lost'),
    ),
    fc.nat(),
    async (rows, withTimes, fault, seed) => {
      const table = filled(rows);
      const before = table.all;
      const random = seededRandom(seed);
      table.hasWriteTime = (column) => withTimes.includes(column);
      table.before = table.after = () => {
        const error = random() < 0.1 ? fault() : undefined;
        if (error !== undefined) throw error;
      };
      const outcomes = new Map<number, StrayRowOutcome>();
      const clock = new VirtualClock();
      const onStray = ({ row }: { row: CqlRow }, outcome: StrayRowOutcome) => void outcomes.set(row.id, outcome);
      for (let isLost = true; isLost; ) {
        outcomes.clear();
        isLost = false;
        await clock.runUntil(reshardRows(table, twenty, { clock, random, attempts: 1_000, onStray })).catch((error) => {
          expect(error.message).toBe('lost');
          isLost = true;
        });
      }
      table.now += 2 * MINUTE;
      for (const { id } of before) {
        const belongs = ({ shard }: CqlRow) => shard === shardColumns(twenty, { day: 'd', id }).shard;
        const rowsOf = (all: readonly CqlRow[]) => all.filter((each) => each.id === id);
        const found = rowsOf(table.all);
        // If a writer with the new count has written the row, its row in the new shard is the newer row.
        const newest = rowsOf(before).find(belongs) ?? rowsOf(before)[0]!;
        const { shard: _, ...values } = newest;
        expect([id, found.some((each) => isDeepStrictEqual({ ...each, ...values }, each))]).toEqual([id, true]);
        expect([id, found.length === 1 && belongs(found[0]!)]).toEqual([id, outcomes.get(id) !== 'refused']);
        if (outcomes.get(id) !== 'refused') expect(found).toEqual([{ ...newest, shard: found[0]!.shard }]);
      }
    },
  );
  await fc.assert(property, { numRuns: randomRuns(80) });
});

/** A table with one stray, the key of the row in the correct shard, and the write statements that were sent. */
function oneStray(row: CqlRow, at?: number) {
  const table = new FakeRowTable(twenty);
  const key = { day: 'd', id: [0, 1, 2, 3].find((id) => shardColumns(twenty, { day: 'd', id }).shard !== 7)! };
  const stray = { ...key, shard: 7 };
  table.insert({ ...stray, ...row }, at && table.now + at);
  const writes = () => table.sent.filter((query) => !query.startsWith('SELECT'));
  const place: CqlRow = { ...key, ...shardColumns(twenty, key) };
  return { table, stray, place, writes };
}

test('reshardRows – a row with a future timestamp – writes nothing, and moves the row when the clock has passed the timestamp', async () => {
  const { table, stray, place, writes } = oneStray({ body: 'x' }, HOUR);
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
  expect([writes(), table.all]).toEqual([[], [{ ...stray, body: 'x' }]]);
  table.now += HOUR;
  expect(await reshardRows(table, twenty)).toMatchObject({ outcomes: { moved: 1 }, unverified: 0 });
  expect(table.all).toEqual([{ ...place, body: 'x' }]);
});

test('reshardRows – a row with only key columns and a future timestamp – rejects the row and leaves no copy', async () => {
  const { table, stray } = oneStray({}, HOUR);
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
  expect(table.all).toEqual([stray]);
});

test('reshardRows – a writer that sets a value to null directly after the copy – keeps the null', async () => {
  const { table, place } = oneStray({ body: 'x', version: 1 });
  table.after = (query) => {
    if (query.startsWith('INSERT')) table.update({ ...place, body: null });
  };
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 1, settled: 0, refused: 0 });
  expect(table.all).toEqual([{ ...place, version: 1 }]);
});

describe('reshardRows – in the correct shard, one value was deleted with a future timestamp', () => {
  function hiddenBody() {
    const { table, stray, place } = oneStray({ body: 'x', version: 1 });
    table.update({ ...place, body: null }, table.now + HOUR);
    return { table, stray: { ...stray, body: 'x', version: 1 }, partial: { ...place, version: 1 } };
  }

  test('does not move the stray, and leaves no copy of the stray without this value', async () => {
    const { table, stray } = hiddenBody();
    expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
    expect(table.all).toEqual([stray]);
  });

  test('leaves both rows in a table that does not support times to live, because a writer could also have set the value to null', async () => {
    const { table, stray, partial } = hiddenBody();
    table.before = (query) => {
      if (query.includes('USING TTL')) throw Object.assign(new Error('no TTL'), { code: 0x2200 });
    };
    for (let run = 0; run < 2; run++) {
      expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
      expect(table.all).toEqual([stray, partial]);
    }
  });
});

test('reshardRows – the row in the correct shard is newer, and lacks a value of the stray – never shows the value of the stray in the correct shard', async () => {
  const { table, place } = oneStray({ body: 'x', version: 1 });
  table.insert({ ...place, version: 2 });
  const seen = new Set<unknown>();
  table.after = () => void seen.add(table.all.find(({ shard }) => shard === place.shard)?.body);
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 1, refused: 0 });
  expect([...seen]).toEqual([undefined]);
});

test.each<[string, CqlRow, string[], number]>([
  ['the key alone', {}, columns, 1],
  ['a value with a write time and one without', { body: 'x', version: 1 }, ['body'], 1],
  ['a value with a write time and null without', { body: 'x', version: null }, ['body'], 0],
  ['no write time, as in a table without client-side timestamps', { body: 'x' }, [], 1],
])(
  'reshardRows – a row with %s – moves the row, and reports the number of moved rows whose values were not verified',
  async (_, row, withTimes, unverified) => {
    const { table, place } = oneStray(row);
    table.hasWriteTime = (column) => withTimes.includes(column);
    expect(await reshardRows(table, twenty)).toMatchObject({ outcomes: { moved: 1 }, unverified });
    expect(table.all).toMatchObject([place]);
  },
);
