import fc from 'fast-check';
import { type CqlRow, reshardRows, type StrayRowOutcome, shardColumns } from '../../../../lib/core';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { FakeRowTable } from '../../../support/fakes/fake-row-table';
import { keyspacesConfig } from '../../../support/keyspaces-config';
import { randomRuns } from '../../../support/random-runs';

const HOUR = 3_600_000_000;
const columns = ['body', 'version'];
const five = keyspacesConfig({ columns, shards: { default: { write: 5, read: 20 } } });
const twenty = { ...five, shards: { default: { write: 20, read: 20 } } };

/** A row where the former count put it, and what clients did to it with timestamps of the future. */
interface DrawnRow {
  body: string | null;
  version: number | null;
  isInsertedAhead: boolean;
  updatedAhead: 'body' | 'version' | undefined;
  deletedAhead: 'row' | 'body' | 'version' | undefined;
}

const drawnRow = fc.record<DrawnRow>({
  body: fc.constantFrom('x', null),
  version: fc.constantFrom(1, null),
  isInsertedAhead: fc.boolean(),
  updatedAhead: fc.constantFrom(undefined, 'body', 'version'),
  deletedAhead: fc.constantFrom(undefined, undefined, 'row', 'body', 'version'),
});

function filled(rows: readonly DrawnRow[]): FakeRowTable {
  const table = new FakeRowTable(five);
  for (const [id, { body, version, isInsertedAhead, updatedAhead, deletedAhead }] of rows.entries()) {
    const key = { day: 'd', id };
    const former: CqlRow = { ...key, ...shardColumns(five, key) };
    const place: CqlRow = { ...key, ...shardColumns(twenty, key) };
    const future = table.now + HOUR;
    table.insert({ ...former, body, version }, isInsertedAhead ? future : undefined);
    if (updatedAhead !== undefined) table.update({ ...former, [updatedAhead]: updatedAhead }, future + 1);
    if (former.shard === place.shard) continue;
    if (deletedAhead === 'row') table.delete(place, future);
    else if (deletedAhead !== undefined) table.update({ ...place, [deletedAhead]: null }, future);
  }
  return table;
}

test('reshardRows – rows and deletes with timestamps ahead of the server, throttled requests – loses no value and leaves a row twice only if it is refused', async () => {
  const timed = fc.constantFrom(columns, ['body'], ['version']);
  const property = fc.asyncProperty(
    fc.array(drawnRow, { minLength: 1, maxLength: 12 }),
    timed,
    fc.constantFrom(0, 0.2),
    fc.nat(),
    async (rows, withTimes, throttled, seed) => {
      const table = filled(rows);
      const before = table.all;
      const random = seededRandom(seed);
      table.hasWriteTime = (column) => withTimes.includes(column);
      table.before = table.after = () => {
        if (random() < throttled) throw Object.assign(new Error('timed out'), { code: 0x1100 });
      };
      const outcomes = new Map<number, StrayRowOutcome>();
      const clock = new VirtualClock();
      const options = { clock, random, attempts: 1_000 };
      const onStray = ({ row }: { row: CqlRow }, outcome: StrayRowOutcome) => void outcomes.set(row.id, outcome);
      await clock.runUntil(reshardRows(table, twenty, { ...options, onStray }));
      for (const row of before) {
        const { id } = row;
        const found = table.all.filter((each) => each.id === id);
        const values = Object.entries(row).filter(([name]) => columns.includes(name));
        const holding = found.filter((each) => values.every(([name, value]) => each[name] === value));
        expect([id, holding.length > 0]).toEqual([id, true]);
        const isSettled = found.length === 1 && found[0]!.shard === shardColumns(twenty, row).shard;
        expect([id, isSettled]).toEqual([id, outcomes.get(id) !== 'refused']);
      }
    },
  );
  await fc.assert(property, { numRuns: randomRuns(300) });
});

/** A table with one stray, the place of its writers, and the statements that write. */
function oneStray(row: CqlRow, at?: number) {
  const table = new FakeRowTable(twenty);
  const key = { day: 'd', id: [0, 1, 2, 3].find((id) => shardColumns(twenty, { day: 'd', id }).shard !== 7)! };
  const stray = { ...key, shard: 7 };
  table.insert({ ...stray, ...row }, at && table.now + at);
  const writes = () => table.sent.filter((query) => !query.startsWith('SELECT'));
  return { table, stray, place: { ...key, ...shardColumns(twenty, key) }, writes };
}

test('reshardRows – a row ahead of the server – writes nothing, and moves the row when the clock has passed it', async () => {
  const { table, stray, place, writes } = oneStray({ body: 'x' }, HOUR);
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
  expect([writes(), table.all]).toEqual([[], [{ ...stray, body: 'x' }]]);
  table.now += HOUR;
  expect(await reshardRows(table, twenty)).toMatchObject({ outcomes: { moved: 1 }, unverified: 0 });
  expect(table.all).toEqual([{ ...place, body: 'x' }]);
});

test('reshardRows – a row of the key alone that is ahead of the server – leaves no copy', async () => {
  const { table, stray } = oneStray({}, HOUR);
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 0, settled: 0, refused: 1 });
  expect(table.all).toEqual([stray]);
});

test('reshardRows – a writer that sets a value to null as soon as the row is copied – keeps the null', async () => {
  const { table, place } = oneStray({ body: 'x', version: 1 });
  table.after = (query) => {
    if (query.startsWith('INSERT')) table.update({ ...place, body: null });
  };
  expect((await reshardRows(table, twenty)).outcomes).toEqual({ moved: 1, settled: 0, refused: 0 });
  expect(table.all).toEqual([{ ...place, version: 1 }]);
});

test.each<[string, CqlRow, string[], number]>([
  ['the key alone', {}, columns, 1],
  ['a value with a write time and one without', { body: 'x', version: 1 }, ['body'], 1],
  ['a value with a write time and null without', { body: 'x', version: null }, ['body'], 0],
  ['no write time, as in a table without client-side timestamps', { body: 'x' }, [], 1],
])('reshardRows – a row with %s – moves and tells how many are unverified', async (_, row, withTimes, unverified) => {
  const { table, place } = oneStray(row);
  table.hasWriteTime = (column) => withTimes.includes(column);
  expect(await reshardRows(table, twenty)).toMatchObject({ outcomes: { moved: 1 }, unverified });
  expect(table.all).toMatchObject([place]);
});

test('reshardRows – write times that no answer tells – reads them again', async () => {
  const { table, place } = oneStray({ body: 'x' });
  let isLost = true;
  const execute: FakeRowTable['execute'] = async (query, ...statement) => {
    const answer = await table.execute(query, ...statement);
    if (!isLost || !query.includes('server_time')) return answer;
    isLost = false;
    return { rows: answer.rows.map((row) => ({ ...row, server_time: undefined })) };
  };
  const clock = new VirtualClock();
  expect(await clock.runUntil(reshardRows({ execute }, twenty, { clock }))).toMatchObject({ outcomes: { moved: 1 } });
  expect(table.all).toEqual([{ ...place, body: 'x' }]);
});
