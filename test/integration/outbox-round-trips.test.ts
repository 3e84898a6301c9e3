import type { Client } from 'pg';
import { migrateOutbox } from '../../lib/core/outbox';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { HostileProxy } from '../support/postgres/hostile-proxy';
import { PostgresServer } from '../support/postgres/postgres-server';
import { Dice } from '../support/random-json';

/**
 * Counts the round trips between an application and the server. The server ends each round trip with a ReadyForQuery
 * message.
 */
describeOnPostgres('the round trips of an application with an outbox', () => {
  let server: PostgresServer;
  let proxy: HostileProxy;
  let application: Client;
  let responses = 0;

  beforeAll(async () => {
    server = await PostgresServer.start();
    const url = new URL(await server.createDatabase('counted'));
    const owner = await server.connect(url.href);
    await migrateOutbox(owner);
    await owner.query('CREATE TABLE plain (partition_key text, data bytea)');
    await owner.end();
    proxy = await HostileProxy.start(Number(url.port), new Dice(() => 0));
    proxy.fate = () => {
      responses += 1;
      return 'honest';
    };
    url.port = String(proxy.port);
    application = await server.connect(url.href);
  }, 60_000);
  afterAll(async () => {
    await application?.end();
    proxy?.stop();
    await server?.stop();
  });

  const VALUES = ['key', Buffer.from('event')];

  async function roundTrips(...statements: [sql: string, values?: unknown[]][]): Promise<number> {
    const before = responses;
    for (const [text, values] of statements) await application.query({ text, values: values ?? [] });
    return responses - before;
  }

  const plainInsert = () => roundTrips(['INSERT INTO plain VALUES ($1, $2)', VALUES]);

  test.each<[string, string, unknown[]]>([
    ['put', 'SELECT outbox.put($1, $2::bytea)', VALUES],
    ['put of a text', 'SELECT outbox.put($1, $2::text)', ['key', 'event']],
    [
      'put_all of many keys',
      'SELECT outbox.put_all($1, $2)',
      [
        ['a', 'b', 'c'],
        [VALUES[1], VALUES[1], VALUES[1]],
      ],
    ],
    ['a plain insert into outbox.message', 'INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2)', VALUES],
  ])('%s takes one round trip, as an INSERT into a plain table does', async (_, sql, values) => {
    expect(await roundTrips([sql, values])).toBe(await plainInsert());
    expect(await plainInsert()).toBe(1);
  });

  test('a put in a transaction of the application adds no round trip', async () => {
    const inTransaction = (sql: string) => roundTrips(['BEGIN'], [sql, VALUES], ['COMMIT']);
    const plain = await inTransaction('INSERT INTO plain VALUES ($1, $2)');
    expect(await inTransaction('SELECT outbox.put($1, $2::bytea)')).toBe(plain);
    expect(await inTransaction('INSERT INTO outbox.message (partition_key, data) VALUES ($1, $2)')).toBe(plain);
  });

  test('a lock in a separate statement adds one round trip', async () => {
    const locked = await roundTrips(
      ['SELECT pg_advisory_xact_lock(outbox.key_hash($1))', ['key']],
      ['INSERT INTO plain VALUES ($1, $2)', VALUES],
    );
    expect(locked).toBe((await plainInsert()) + 1);
  });

  test('a put that wakes a sleeping relay adds no round trip', async () => {
    await application.query(`SELECT setval('outbox.sleeping', 1)`);
    expect(await roundTrips(['SELECT outbox.put($1, $2::bytea)', VALUES])).toBe(await plainInsert());
  });
});
