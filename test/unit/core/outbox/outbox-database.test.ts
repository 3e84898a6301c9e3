import { Connection } from '../../../../lib/core/outbox/connection';
import { type HeldRange, OutboxDatabase } from '../../../../lib/core/outbox/outbox-database';
import { Patience } from '../../../../lib/core/outbox/patience';
import type { PostgresClient, PostgresQuery } from '../../../../lib/core/outbox/postgres-client';
import { VirtualClock } from '../../../../lib/testing';

const RANGE = { number: 1, lock: 1, fence: '1', firstBucket: 0, lastBucket: 1, producerId: 'p' } as HeldRange;
const POSITION = { from: '3:3:', afterId: 0n };
const WINDOW = { afterId: 0n, maxRows: 1, maxBytes: 1 };

/** A database that answers everything with these rows, and what it was asked. */
function databaseSaying(rows: object[]) {
  const asked: PostgresQuery[] = [];
  const query = async (statement: PostgresQuery) => {
    asked.push(statement);
    return { rows, rowCount: rows.length };
  };
  const client = { query } as unknown as PostgresClient;
  const database = new OutboxDatabase(new Connection(client, new Patience(new VirtualClock(), 1_000)), 'outbox');
  return { database, asked };
}

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
