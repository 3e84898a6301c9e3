import { Connection } from '../../../../lib/core/outbox/connection';
import type { RowShape } from '../../../../lib/core/outbox/envelope';
import { type HeldRange, OutboxDatabase } from '../../../../lib/core/outbox/outbox-database';
import { OUTBOX_SCHEMA_VERSION } from '../../../../lib/core/outbox/outbox-schema';
import { Patience } from '../../../../lib/core/outbox/patience';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { VirtualClock } from '../../../../lib/testing';

const RANGE = { number: 1, lock: 1, fence: '1', firstBucket: 0, lastBucket: 1, producerId: 'p' } as HeldRange;
const POSITION = { from: '3:3:', afterId: 0n };
const WINDOW = { afterId: 0n, maxRows: 1, maxBytes: 1, maxBytesOfAll: 1, findsParkedKeys: false };
const FIRST_KEY = { behindId: 0n, atMost: 1 };

type Answer = object[] | ((values: readonly unknown[]) => object[]);

/** A database that answers a statement by how it begins, with no rows unless it is said, and what it was asked. */
function databaseAnswering(answers: Record<string, Answer>, shape?: RowShape) {
  const asked: PostgresQuery[] = [];
  const query = async (given: PostgresQuery) => {
    const statement = { ...given, text: given.text.replaceAll('pg_catalog.', '') };
    asked.push(statement);
    const answer = Object.entries(answers).find(([begins]) => statement.text.trim().startsWith(begins))?.[1] ?? [];
    const rows = typeof answer === 'function' ? answer(statement.values ?? []) : answer;
    return { rows, rowCount: rows.length };
  };
  const client = { query } as unknown as PostgresClient;
  const database = new OutboxDatabase(new Connection(client, new Patience(new VirtualClock(), 1_000)), 'outbox', shape);
  const valuesOf = (begins: string) =>
    asked.filter(({ text }) => text.trim().startsWith(begins)).map(({ values }) => values);
  return { database, asked, valuesOf };
}

/** A database that answers everything with these rows, and what it was asked. */
const databaseSaying = (rows: object[]) => databaseAnswering({ '': rows });

test.each([
  [[], null, null],
  [[7n], '7', '{[7,7]}'],
  [[3n, 1n, 2n], '3', '{[1,3]}'],
  [[8n, 1n, 4n, 2n, 7n, 10n], '10', '{[1,2],[4,4],[7,8],[10,10]}'],
  [[2n ** 63n - 1n, 2n ** 63n - 2n], '9223372036854775807', '{[9223372036854775806,9223372036854775807]}'],
])('rows %j that were acknowledged are noted in as few ranges as they have', async (ids, lastId, ranges) => {
  const { database, asked } = databaseSaying([{ isHeld: true }]);
  expect(await database.save(RANGE, POSITION, ids)).toBe(true);
  expect(asked[0]!.values!.slice(-2)).toEqual([lastId, ranges]);
});

test.each<[string, (database: OutboxDatabase) => Promise<unknown>]>([
  ['which version there is', (database) => database.check()],
  ['whether a position was saved', (database) => database.save(RANGE, POSITION, [])],
  ['whether rows were parked', (database) => database.park(RANGE, [])],
  ['which number was given last', (database) => database.lastNumber()],
])('an answer without a row does not say %s, and the connection is given up', async (_, ask) => {
  const { database, asked } = databaseSaying([]);
  await expect(ask(database)).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  const before = asked.length;
  await expect(database.rotate()).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  expect(asked).toHaveLength(before);
});

test.each<[string, (database: OutboxDatabase) => Promise<unknown>]>([
  ['of a window', (database) => database.readWindow(RANGE, { from: '3:3:', to: '5:5:', firstId: 1n }, WINDOW)],
  ['of what is parked', (database) => database.readParked(RANGE, [], WINDOW)],
  ['of what was sent', (database) => database.readSent({ lastId: 1n }, WINDOW, 'p')],
])('a row %s without its key, or without its data, is no answer', async (_, ask) => {
  const row = { id: '1', partition_key: 'k', data: new Uint8Array(1), explicit_hash_key: null, tries: 0 };
  await expect(ask(databaseSaying([row]).database)).resolves.toBeDefined();
  for (const damage of [{ partition_key: null }, { data: 'text' }]) {
    const { database } = databaseSaying([{ ...row, ...damage }]);
    await expect(ask(database)).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
  }
});

const failing = (code: string) => () => {
  throw Object.assign(new Error(`refused with ${code}`), { code });
};

describe('a relay finds out whether it can work', () => {
  const READY: Record<string, Answer> = {
    'SELECT to_regclass': [{ there: true }],
    'SELECT version': [{ version: OUTBOX_SCHEMA_VERSION }],
    'SELECT cache_size': [{ cache_size: '1' }],
    'SELECT current_user': [{ role: 'relay' }],
  };

  test.each<[string, Record<string, Answer>]>([
    ['has all it needs', {}],
    ['may not see the sequence', { 'SELECT cache_size': [] }],
  ])('as a role that %s', async (_, answers) => {
    await expect(databaseAnswering({ ...READY, ...answers }).database.check()).resolves.toBeUndefined();
  });

  test.each<[string, Record<string, Answer>, object]>([
    [
      'a schema of a later version',
      { 'SELECT version': [{ version: 99 }] },
      { code: 'OUTBOX_SCHEMA', version: 99, message: expect.stringContaining('update cdk-even-shards') },
    ],
    [
      'a schema of an earlier version',
      { 'SELECT version': [{ version: 1 }] },
      {
        code: 'OUTBOX_SCHEMA',
        version: 1,
        message: expect.stringContaining('got 1; a build before the first release'),
      },
    ],
    [
      'no schema',
      { 'SELECT to_regclass': [{ there: false }] },
      { code: 'OUTBOX_SCHEMA', version: 0, message: expect.stringContaining('got no schema; run outboxMigrations') },
    ],
    [
      'row level security',
      { 'SELECT relname': [{ relname: 'message_0' }, { relname: 'range' }] },
      { code: 'OUTBOX_ROW_SECURITY', role: 'relay', tables: ['outbox.message_0', 'outbox.range'] },
    ],
    [
      'a role that lacks a permission',
      { 'SELECT privilege': [{ missing: 'UPDATE on outbox.range' }] },
      { code: 'OUTBOX_PERMISSION', role: 'relay', missing: ['UPDATE on outbox.range'] },
    ],
    [
      'a role that may not see the schema',
      { 'SELECT version': failing('42501') },
      { code: 'OUTBOX_PERMISSION', role: 'relay', missing: ['refused with 42501'], cause: { code: '42501' } },
    ],
    ['whatever else Postgres says', { 'SELECT version': failing('53100') }, { code: '53100' }],
    [
      'a sequence that caches numbers',
      { 'SELECT cache_size': [{ cache_size: '10' }] },
      { code: 'OUTBOX_SEQUENCE', message: expect.stringContaining('got 10;') },
    ],
  ])('not with %s', async (_, answers, error) => {
    await expect(databaseAnswering({ ...READY, ...answers }).database.check()).rejects.toMatchObject(error);
  });
});

test.each([
  [[], undefined, []],
  [[{ is_mine: false, ranges: 2 }], undefined, [2]],
  [
    [
      { is_mine: false, ranges: 1 },
      { is_mine: true, ranges: 3 },
    ],
    3,
    [1],
  ],
])('who holds how many ranges: %j', async (rows, mine, others) => {
  expect(await databaseSaying(rows).database.holdings()).toEqual({ mine, others });
});

describe('a range', () => {
  const TAKEN = { first_bucket: 0, last_bucket: 7, fence: '3', producer_id: 'p', batch_from: '3:3:', batch_to: null };
  const FREE = [1, 2, 3].map((number) => ({ number, lock: number }));

  /** A database with three ranges, some of which cannot be locked, or are gone when they are taken over. */
  function databaseWith({ locked = [1, 2, 3, 65], gone = [0], lockAnew = [] as object[], taken = {} }) {
    return databaseAnswering({
      'SELECT number, lock': FREE,
      'SELECT pg_try_advisory_lock(': ([, lock]) => [{ isClaimed: locked.includes(lock as number) }],
      'UPDATE outbox.range SET lock': lockAnew,
      'SELECT outbox.recognize': [{ isKnown: true }],
      'UPDATE outbox.range r SET fence': ([number]) =>
        gone.includes(number as number) ? [] : [{ ...TAKEN, after_id: '0', ...taken }],
    });
  }

  test('that nobody holds is taken', async () => {
    const { database, valuesOf } = databaseWith({});
    const position = { from: '3:3:', to: undefined, afterId: 0n };
    const range = { number: 1, lock: 1, firstBucket: 0, lastBucket: 7, fence: '3', producerId: 'p', position };
    expect(await database.claim([5])).toEqual(range);
    expect(valuesOf('SELECT number, lock')).toEqual([['outbox', [5]]]);
    expect(valuesOf('SELECT pg_advisory_unlock(')).toEqual([]);
  });

  test.each<[string, object, object | undefined, unknown[]]>([
    ['whose lock is held is passed', { locked: [2, 3] }, { number: 2, lock: 2 }, []],
    [
      'whose lock is held gets another, if that is held by nobody who may relay',
      { locked: [65], lockAnew: [{ lock: 65 }] },
      { number: 1, lock: 65 },
      [],
    ],
    ['whose other lock is held, too, is passed', { locked: [3], lockAnew: [{ lock: 65 }] }, { number: 3, lock: 3 }, []],
    ['that is gone meanwhile is given back, and passed', { gone: [1] }, { number: 2, lock: 2 }, [['outbox', 1]]],
    ['is not taken where each is held', { locked: [] }, undefined, []],
  ])('%s', async (_, state, range, givenBack) => {
    const { database, valuesOf } = databaseWith(state);
    const claimed = await database.claim([]);
    expect(claimed && { number: claimed.number, lock: claimed.lock }).toEqual(range);
    expect(valuesOf('SELECT pg_advisory_unlock(')).toEqual(givenBack);
  });

  test.each([
    ['0', '5:5:', undefined, 0n],
    ['1', '5:5:', '5:5:', 1n],
    ['9', '5:5:', '5:5:', 9n],
    ['9', null, undefined, 9n],
  ])('that was relayed up to row %s of a batch to %s goes on there', async (after_id, batch_to, to, afterId) => {
    const { database } = databaseWith({ taken: { after_id, batch_to } });
    expect((await database.claim([]))!.position).toEqual({ from: '3:3:', to, afterId });
  });

  test('is not taken in a database that was restored', async () => {
    const { database } = databaseAnswering({
      'SELECT number, lock': FREE,
      'SELECT pg_try_advisory_lock(': [{ isClaimed: true }],
      'SELECT outbox.recognize': [{ isKnown: false }],
    });
    const message = expect.stringMatching(
      /than then; it was restored: call outbox\.restored\(\) before the relay starts$/,
    );
    await expect(database.claim([])).rejects.toMatchObject({ code: 'OUTBOX_RESTORED', message });
  });
});

test.each<[string, (database: OutboxDatabase) => Promise<unknown>]>([
  ['a look for rows', (database) => database.look(RANGE, '3:3:')],
  ['parked keys', (database) => database.parkedKeys(RANGE, FIRST_KEY)],
  ['parked rows', (database) => database.readParked(RANGE, [], WINDOW)],
  ['rows that are put again', (database) => database.putAgain({ lastId: 1n }, WINDOW)],
])('an answer without a row is undefined for %s', async (_, ask) => {
  expect(await ask(databaseSaying([]).database)).toBeUndefined();
});

test.each([
  ['7', 7n],
  [null, 9_223_372_036_854_775_807n],
])('a look that finds first number %s begins at %s', async (first_id, firstId) => {
  const { database } = databaseSaying([{ snapshot: '5:5:', first_id, has_rows: true }]);
  expect(await database.look(RANGE, '3:3:')).toEqual({ to: '5:5:', firstId, hasRows: true });
});

const BATCH = { from: '3:3:', to: '5:5:', firstId: 1n };
const FOUND = { id: '8', partition_key: 'k', data: new Uint8Array(3), explicit_hash_key: null, parked_tries: null };
const READ = {
  id: 8n,
  partitionKey: 'k',
  data: FOUND.data,
  explicitHashKey: undefined,
  sequence: { producerId: 'p', sequenceNumber: 8n },
  read: { id: 8n, hasEnded: false },
};

test.each([
  [0, 1, 1, true],
  [1, 1, 9, false],
  [1, 2, 4, true],
  [1, 2, 3, false],
  [2, 3, 7, true],
  [2, 3, 6, false],
])('with %d rows of 3 bytes, where %d rows and %d bytes were asked for, a batch has no more: %s', async (...given) => {
  const [count, maxRows, maxBytes, isLast] = given;
  const { database } = databaseSaying(
    Array.from({ length: count }, (_, n) => ({ ...FOUND, bytes_up_to: `${3 * (n + 1)}` })),
  );
  const window = await database.readWindow(RANGE, BATCH, { afterId: 0n, maxRows, maxBytes, findsParkedKeys: false });
  expect(window).toEqual({ rows: Array.from({ length: count }, () => READ), isLast, parkedKeys: [] });
});

test('a window is read by a statement that is prepared once, of what a record needs', async () => {
  const { database, asked } = databaseSaying([{ ...FOUND, explicit_hash_key: '7' }]);
  const { rows } = await database.readWindow(RANGE, BATCH, WINDOW);
  expect(rows).toEqual([{ ...READ, explicitHashKey: 7n }]);
  expect(asked[0]).toMatchObject({
    name: expect.stringMatching(/^outbox_window_\d+$/),
    text: expect.not.stringContaining('created_at'),
  });
});

test('an envelope has more of each row', async () => {
  const createdAt = new Date(0);
  const enveloped: object[] = [];
  const data = new Uint8Array(9);
  const shape: RowShape = {
    dataOf: (row) => {
      enveloped.push(row);
      return data;
    },
  };
  const bare = { ...FOUND, type: null, headers: null, topic: null, created_at: createdAt };
  const full = { ...bare, type: 't', headers: { a: 'b' }, topic: 'repositories' };
  const { database, asked } = databaseAnswering({ 'SELECT id': [bare, full] }, shape);
  const { rows } = await database.readWindow(RANGE, BATCH, WINDOW);
  expect(rows).toEqual([
    { ...READ, data },
    { ...READ, data, topic: 'repositories' },
  ]);
  expect(rows.map((row) => 'topic' in row)).toEqual([false, true]);
  expect(enveloped).toStrictEqual([
    { ...READ, type: undefined, headers: {}, createdAt },
    { ...READ, type: 't', headers: { a: 'b' }, createdAt },
  ]);
  expect(asked[0]!.text).toContain('type, headers::jsonb AS headers, topic, created_at');
  const timeless = databaseAnswering({ 'SELECT id': [{ ...bare, created_at: null }] }, shape);
  await expect(timeless.database.readWindow(RANGE, BATCH, WINDOW)).rejects.toMatchObject({ code: 'OUTBOX_CONNECTION' });
});

test.each([
  [{ from: '3:3:', afterId: 0n }, ['3:3:', null, '0']],
  [{ from: '3:3:', to: '5:5:', afterId: 4n }, ['3:3:', '5:5:', '4']],
])('a position is saved as it is: %j', async (position, values) => {
  const { database, asked } = databaseSaying([{ isHeld: false }]);
  expect(await database.save(RANGE, position, [])).toBe(false);
  expect(asked[0]!.values!.slice(2, 5)).toEqual(values);
});

test.each([true, false])('rows are parked while the range is held: %s', async (isHeld) => {
  expect(await databaseSaying([{ isHeld }]).database.park(RANGE, [])).toBe(isHeld);
});

test('parked keys and rows are those that are there', async () => {
  const nothing = databaseSaying([{ partition_key: null, id: null }]).database;
  expect(await nothing.parkedKeys(RANGE, FIRST_KEY)).toEqual([]);
  expect(await nothing.readParked(RANGE, [], WINDOW)).toEqual({ rows: [], unreadKeys: [] });
  const one = databaseSaying([{ ...FOUND, tries: 2, first_id: '8' }]).database;
  expect(await one.parkedKeys(RANGE, FIRST_KEY)).toEqual([{ partitionKey: 'k', tries: 2, firstId: 8n }]);
  expect(await one.readParked(RANGE, [], WINDOW)).toEqual({ rows: [{ ...READ, tries: 2 }], unreadKeys: [] });
});

test.each([
  [{ lastId: 9n }, ['0', '9', null, null, null, 1, 1]],
  [
    { lastId: 9n, partitionKey: 'k', sentFrom: new Date(0), sentBefore: new Date(1) },
    ['0', '9', 'k', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.001Z', 1, 1],
  ],
])('rows that were sent are asked for by what is wanted of them: %j', async (wanted, values) => {
  const { database, asked } = databaseSaying([{ ...FOUND, rows: '3', last_id: '9' }]);
  expect(await database.readSent(wanted, WINDOW, 'p')).toEqual([READ]);
  expect(await database.putAgain(wanted, WINDOW)).toEqual({ rows: 3, lastId: 9n });
  expect(asked.map((query) => query.values)).toEqual([values, values]);
});

test('who numbers the rows, and how far', async () => {
  const { database } = databaseSaying([{ producer_id: 'p', last_value: '9' }]);
  expect(await database.lastNumber()).toEqual({ producerId: 'p', lastId: 9n });
});

test('writers are told to notify with 1, and not to with 0', async () => {
  const { database, asked } = databaseSaying([]);
  await database.setSleeping(true);
  await database.setSleeping(false);
  expect(asked.map(({ values }) => values)).toEqual([[1], [0]]);
});
