import type { Client, Pool } from 'pg';
import { type Clock, systemClock } from '../../lib/core/kernel/clock';
import {
  migrateOutbox,
  OUTBOX_SCHEMA_VERSION,
  OutboxRelay,
  OutboxRestoredError,
  outboxMigrations,
} from '../../lib/core/outbox';
import { applyMigrations, migration } from '../../lib/core/outbox/outbox-migrations';
import type { TunedRelayOptions } from '../../lib/core/outbox/relay-options';
import type { FakeKinesis } from '../../lib/testing/fake-kinesis';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import {
  FAST,
  producerFor,
  RunningRelays,
  realTimeKinesis,
  recordsIn,
  textsIn,
  until,
} from '../support/postgres/relays';
import { withoutDuplicates } from '../support/without-duplicates';

const HURRY = 120;

describeOnPostgres('an outbox on PostgreSQL', () => {
  let server: PostgresServer;
  let url: string;
  let client: Client;
  let pool: Pool;
  let kinesis: FakeKinesis;
  const relays = new RunningRelays();

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase('promises');
    pool = server.pool(url);
  }, 60_000);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    client = await server.connect(url);
    await client.query('DROP SCHEMA IF EXISTS outbox CASCADE');
    await migrateOutbox(client);
    kinesis = realTimeKinesis();
  });
  afterEach(async () => {
    await stopAll();
    await client.end();
  });

  const relayTo = (stream: FakeKinesis, options: TunedRelayOptions = {}) =>
    new OutboxRelay(pool, producerFor(stream), { ...FAST, ...options });

  const start = (relay = relayTo(kinesis)): Promise<unknown> => relays.start(relay).ended;
  const stopAll = () => relays.stop();
  const records = () => recordsIn(kinesis);
  const texts = (stream = kinesis) => textsIn(stream);
  const one = async (sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows[0];

  async function relayed(count: number): Promise<void> {
    start();
    await until(() => records().length >= count);
    await stopAll();
  }

  describe('the durability of a put', () => {
    test.each([
      ['put', "SELECT outbox.put('k', 'x')"],
      ['put_all', "SELECT outbox.put_all('{k}', '{x}'::text[])"],
      ['a plain insert', "INSERT INTO outbox.message (partition_key, data) VALUES ('k', 'x')"],
    ])('%s sets synchronous_commit = on for its transaction, if it is off', async (_, sql) => {
      await client.query('SET synchronous_commit = off; BEGIN');
      await client.query(sql);
      expect(await one('SHOW synchronous_commit')).toEqual({ synchronous_commit: 'on' });
      await client.query('COMMIT');
      expect(await one('SHOW synchronous_commit')).toEqual({ synchronous_commit: 'off' });
    });

    test('put keeps synchronous_commit = local', async () => {
      await client.query("BEGIN; SET LOCAL synchronous_commit = local; SELECT outbox.put('k', 'x')");
      expect(await one('SHOW synchronous_commit')).toEqual({ synchronous_commit: 'local' });
      await client.query('ROLLBACK');
    });
  });

  describe('a copy of the database', () => {
    test('every start of a relay on another cluster fails until an operator calls restored()', async () => {
      await client.query("SELECT outbox.put('k', 'one')");
      await relayed(1);
      await client.query("UPDATE outbox.settings SET cluster = 'another'");
      for (let attempt = 0; attempt < 3; attempt++) {
        await expect(start()).rejects.toThrow(OutboxRestoredError);
        // Writers continue, so transaction ids become larger than the position of the relay.
        for (let n = 0; n < 10; n++) await client.query("SELECT outbox.put('k', 'more')");
      }
      await client.query('SELECT outbox.restored()');
      start();
      await until(() => texts().filter((text) => text === 'more').length === 30);
    });

    test('restored() sends all remaining rows, and keeps the sent rows for the retention time', async () => {
      await client.query("SELECT outbox.retain('7 days')");
      for (const text of ['one', 'two']) await client.query("SELECT outbox.put('k', $1::text)", [text]);
      await relayed(2);
      await client.query("SELECT outbox.put('k', 'three')");
      // The sequences of a logical replica begin again, so a new row can have the number of a row that was sent.
      await client.query("SELECT setval('outbox.number', 1, false), setval('outbox.slot', 1)");
      await client.query("SELECT outbox.put('other', 'repeated number')");
      await client.query('SELECT outbox.restored()');
      await client.query("SELECT outbox.put('k', 'four')");
      await relayed(7);
      const ofKey = (key: string) =>
        records().flatMap(({ partitionKey, data }) => (partitionKey === key ? [Buffer.from(data).toString()] : []));
      expect(ofKey('k')).toEqual(['one', 'two', 'one', 'two', 'three', 'four']);
      expect(ofKey('other')).toEqual(['repeated number']);
      const sent = await client.query('SELECT data FROM outbox.sent ORDER BY id, created_at');
      expect(sent.rows.map(({ data }) => data.toString())).toEqual(['one', 'repeated number', 'two', 'four']);
      expect(await client.query('SELECT outbox.verify()').then(({ rows }) => rows)).toMatchObject([
        { verify: '(1,0)' },
      ]);
    });

    test('a relay does not start if its saved position is outside the transaction ids of the database', async () => {
      await client.query("UPDATE outbox.range SET batch_from = '999999999:999999999:'");
      await expect(start()).rejects.toThrow(OutboxRestoredError);
      await client.query("UPDATE outbox.range SET batch_from = '3:3:'");
      await expect(start()).rejects.toThrow(OutboxRestoredError);
    });

    test('the outbox identifies a server that hides its system identifier and timeline, as Aurora does', async () => {
      const refuse = (
        name: string,
        result: string,
      ) => `CREATE FUNCTION refused.${name} RETURNS ${result} LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'refused' USING ERRCODE = 'object_not_in_prerequisite_state'; END $$`;
      await client.query('CREATE SCHEMA refused');
      await client.query(refuse('pg_control_system(OUT system_identifier bigint)', 'bigint'));
      await client.query(refuse('pg_current_wal_lsn()', 'pg_lsn'));
      await client.query('ALTER FUNCTION outbox.recognize SET search_path = refused, pg_catalog, pg_temp');
      // On a server that hides its identifier, the migration leaves both columns NULL.
      await client.query('UPDATE outbox.settings SET cluster = NULL, timeline = NULL');
      await client.query("SELECT outbox.put('k', 'one')");
      await relayed(1);
      expect(await one('SELECT cluster, timeline FROM outbox.settings')).toMatchObject({
        cluster: expect.stringMatching(/^-\/\d+\/\d+$/),
        timeline: null,
      });
      await client.query("SELECT outbox.put('k', 'two')");
      await relayed(2);
      await client.query('DROP SCHEMA refused CASCADE');
    });
  });

  describe('verify', () => {
    test('counts each acknowledged row once', async () => {
      for (let n = 0; n < 50; n++) await client.query("SELECT outbox.put('k', $1::text)", [n]);
      await relayed(50);
      const relay = relayTo(kinesis);
      expect(await relay.verify()).toEqual({
        verifiedRows: 50,
        waitingRows: 0,
        waitingSeconds: 0,
        parkedRows: 0,
        rejectedRows: 0,
        missingRows: 0,
        missing: [],
      });
      expect(await relay.verify()).toMatchObject({ verifiedRows: 0, missingRows: 0 });
    });

    test('names the rows that the position of a relay has skipped, and keeps their slot', async () => {
      await client.query('SELECT outbox.divide(2)');
      for (let n = 0; n < 4; n++) await client.query("SELECT outbox.put('k', $1::text)", [n]);
      // With this wrong position, the relay skips rows.
      await client.query('UPDATE outbox.range SET batch_from = pg_current_snapshot()');
      const { missing } = await relayTo(kinesis).verify();
      expect(missing.map(({ id }) => id)).toEqual([1n, 2n, 3n, 4n]);
      expect(new Set(missing.map(({ range }) => range)).size).toBe(1);
      for (let turn = 0; turn < 4; turn++) await client.query('SELECT outbox.rotate()');
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 4 });
    });

    test('reads no row twice', async () => {
      await client.query(
        "SELECT outbox.put_all(array_agg('k'::text), array_agg(n::text)) FROM generate_series(1, 2000) n",
      );
      await client.query('UPDATE outbox.range SET batch_from = pg_current_snapshot()');
      await client.query("INSERT INTO outbox.ended (last_id, numbers) VALUES (2000, '{[1,2000]}')");
      // After five calls, Postgres can use a generic plan, so the test makes seven calls.
      for (let times = 0; times < 7; times++) await client.query('SELECT outbox.verify(), outbox.lag()');
      const read = async () =>
        (
          await one(
            `SELECT sum(seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables
             WHERE schemaname = 'outbox' AND relname LIKE 'message%'`,
          )
        ).read as number;
      await client.query('BEGIN');
      const before = await read();
      await client.query('SELECT outbox.verify(), outbox.lag()');
      expect((await read()) - before).toBe(0);
      await client.query('COMMIT');
    });

    test('does not count rejected rows and rolled-back rows as missing', async () => {
      await client.query("SELECT outbox.accept_records_of(10485760), outbox.put('bad', repeat('x', 2000000))");
      await client.query("BEGIN; SELECT outbox.put('k', 'never'); ROLLBACK; SELECT outbox.put('k', 'one')");
      start(relayTo(kinesis, { maxTries: 1 }));
      await until(async () => (await one('SELECT count(*)::int AS rows FROM outbox.rejected')).rows === 1);
      await stopAll();
      expect(await relayTo(kinesis).verify()).toMatchObject({ rejectedRows: 1, missingRows: 0 });
    });
  });

  describe('retain and replay', () => {
    beforeEach(async () => {
      await client.query("SELECT outbox.retain('1 hour')");
      await client.query("SELECT outbox.put(k, n::text) FROM generate_series(1, 6) n, (VALUES ('a'), ('b')) keys (k)");
      await relayed(12);
      for (let turn = 0; turn < 4; turn++) await client.query('SELECT outbox.rotate()');
    });

    test('retain keeps sent rows with the time of sending, until retain is set to 0', async () => {
      const { rows, is_sent } = await one(
        'SELECT count(*)::int AS rows, bool_and(sent_at >= created_at) AS is_sent FROM outbox.sent',
      );
      expect([rows, is_sent]).toEqual([12, true]);
      await client.query("SELECT outbox.retain('0')");
      for (let turn = 0; turn < 4; turn++) await client.query('SELECT outbox.rotate()');
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 0 });
      expect(await one('SELECT count(*)::int AS rows FROM outbox.ended')).toEqual({ rows: 0 });
    });

    test('replay sends rows with their old numbers, so consumers that have the rows drop them', async () => {
      const before = texts();
      expect(await relayTo(kinesis).replay()).toBe(12);
      expect(texts()).toEqual([...before, ...before]);
      expect(withoutDuplicates(records())).toHaveLength(12);
    });

    test.each([
      ['of a key', { partitionKey: 'a' }, 6],
      ['of some numbers', { firstId: 3n, lastId: 5n }, 3],
      ['of a time', { sentFrom: new Date(Date.now() - 60_000), sentBefore: new Date(Date.now() + 600_000) }, 12],
      ['of a time without rows', { sentBefore: new Date(0) }, 0],
    ])('replay sends the rows %s to another stream', async (_, options, count) => {
      const other = realTimeKinesis();
      expect(await relayTo(other, { batchRows: 2 }).replay(options)).toBe(count);
      expect(texts(other)).toHaveLength(count);
    });

    test('replay as new sends rows with new numbers, so every consumer processes them', async () => {
      expect(await relayTo(kinesis, { batchRows: 5 }).replay({ partitionKey: 'b', as: 'new' })).toBe(6);
      await relayed(18);
      const consumed = withoutDuplicates(records()).filter(({ partitionKey }) => partitionKey === 'b');
      const numbers = consumed.map(({ data }) => Buffer.from(data).toString());
      expect(numbers).toEqual(['1', '2', '3', '4', '5', '6', '1', '2', '3', '4', '5', '6']);
    });

    test('replay does not send waiting rows', async () => {
      await client.query("SELECT outbox.put('a', 'waits')");
      const other = realTimeKinesis();
      await relayTo(other).replay();
      expect(texts(other)).not.toContain('waits');
    });
  });

  describe('put', () => {
    const PUT = 'SELECT outbox.put($1, $2::text, NULL, $3, $4, $5)';

    test('stores the type, headers and trace context that the relay sends as CloudEvents attributes', async () => {
      const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tenant: 'acme' };
      await client.query(PUT, ['k', '{"n": 12345678901234567890}', 'repository.created', headers, null]);
      await client.query("SELECT outbox.put('k', 'a text'), outbox.put('k', '\\xff00'::bytea)");
      start(relayTo(kinesis, { envelope: { cloudEvents: { source: '/repositories' } } }));
      await until(() => records().length === 3);
      expect(texts()[0]).toContain('"data":{"n": 12345678901234567890}}');
      const [json, text, binary] = texts().map((event) => JSON.parse(event));
      const { producer_id: producerId } = await one('SELECT producer_id FROM outbox.settings');
      expect(json).toMatchObject({
        specversion: '1.0',
        id: `${producerId}/1`,
        source: '/repositories',
        type: 'repository.created',
        partitionkey: 'k',
        datacontenttype: 'application/json',
        ...headers,
      });
      expect(new Date(json.time).getTime()).toBeGreaterThan(Date.now() - 60_000);
      expect(text).toMatchObject({ type: 'event', datacontenttype: 'text/plain', data: 'a text' });
      expect(binary).toMatchObject({ datacontenttype: 'application/octet-stream', data_base64: '/wA=' });
    });

    test.each([
      ['JSON', 900_000, "to_jsonb(repeat('x', 895901))"],
      ['bytes', 700_000, "decode(repeat('ff', 695903), 'hex')"],
    ])('accepts the largest %s that the guide allows for CloudEvents', async (_, bytes, data) => {
      await client.query(`SELECT outbox.accept_records_of(${bytes})`);
      const headers = { traceparent: 'x'.repeat(55), tracestate: 'x'.repeat(512) };
      const put = `SELECT outbox.put($1, ${data}, NULL, $2, $3)`;
      await client.query(put, ['k', 't'.repeat(256), headers]);
      start(relayTo(kinesis, { envelope: { cloudEvents: { source: '/repositories' } } }));
      await until(() => records().length === 1);
      expect(await one('SELECT parked_rows::int AS parked FROM outbox.lag()')).toEqual({ parked: 0 });
    });

    test.each([
      ['no key', "put(NULL, 'x')", /must not be null/],
      ['an empty key', "put('', 'x')", /got 0/],
      ['a key of 258 UTF-16 units', "put(repeat('😀', 129), 'x')", /got 258/],
      ['no data', "put('k', NULL::text)", /must not be null/],
      ['no data in one of many', "put_all('{k,l}', '{x,NULL}')", /must not be null/],
      ['more data than the stream takes', "put('k', repeat('x', 1044480))", /at most 1044479 bytes/],
      ['more data in one of many', "put_all('{k,l}', ARRAY['x', repeat('x', 1044480)])", /at most/],
      ['a negative hash key', "put('k', 'x', -1)", /whole number/],
      ['a hash key that is not an integer', "put('k', 'x', 1.5)", /whole number.*1\.5/],
      ['a hash key beyond the key space', "put('k', 'x', 340282366920938463463374607431768211456)", /whole number/],
      ['headers that are not an object', "put('k', 'x', headers => '[]')", /JSON object/],
      ['headers that are not JSON', "put('k', 'x', headers => 'no JSON'::text)", /invalid input syntax for type json/],
      ['a header that is not a text', `put('k', 'x', headers => '{"a":1}')`, /header must be a string/],
      ['a header that the relay sets', `put('k', 'x', headers => '{"id":"1"}')`, /not an attribute/],
      ['an empty type', "put('k', 'x', type => '')", /type and topic/],
    ])('rejects %s, and stores no row', async (_, call, message) => {
      await expect(client.query(`SELECT outbox.${call}`)).rejects.toThrow(message);
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 0 });
    });

    test.each([
      ['no data', "(partition_key) VALUES ('k')", /must not be null/],
      ['data and bytes', "(partition_key, data, bytes) VALUES ('k', 'x', 'x')", /got both/],
      ['too much data', "(partition_key, data) VALUES ('k', convert_to(repeat('x', 1044480), 'UTF8'))", /at most/],
      [
        'a hash key with a decimal point',
        "(partition_key, data, explicit_hash_key) VALUES ('k', 'x', 1.0)",
        /whole number.*1\.0/,
      ],
    ])('an INSERT rejects %s, and stores no row', async (_, row, message) => {
      await expect(client.query(`INSERT INTO outbox.message ${row}`)).rejects.toThrow(message);
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 0 });
    });

    test('accepts the longest key and the largest data that the stream accepts', async () => {
      await client.query("SELECT outbox.put(repeat('😀', 128), repeat('x', 1048576 - 4096 - 512))");
      await relayed(1);
      expect(records()[0]!.data).toHaveLength(1_043_968);
    });
  });

  describe('concurrent transactions', () => {
    test('after notify(false), Postgres can prepare a transaction with a put', async () => {
      start(relayTo(kinesis));
      await until(async () => (await one('SELECT last_value::int AS sleeps FROM outbox.sleeping')).sleeps === 1);
      const prepare = async (name: string) => {
        await client.query("BEGIN; SELECT outbox.put('k', 'prepared')");
        await client.query(`PREPARE TRANSACTION '${name}'`);
      };
      await expect(prepare('one')).rejects.toMatchObject({ code: '0A000' });
      await client.query('SELECT outbox.notify(false)');
      await prepare('two');
      await client.query("SELECT outbox.put('other', 'meanwhile')");
      await until(() => texts().includes('meanwhile'));
      await client.query("COMMIT PREPARED 'two'");
      await until(() => texts().includes('prepared'));
    });

    test('put and put_all of the same keys do not deadlock after lock()', async () => {
      const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`);
      const write = async (isAll: boolean) => {
        const session = await server.connect(url);
        for (let turn = 0; turn < 15; turn++) {
          await session.query('BEGIN');
          if (isAll) await session.query('SELECT outbox.put_all($1, $1)', [keys]);
          else {
            await session.query('SELECT outbox.lock($1)', [keys]);
            for (const key of keys.toSorted()) await session.query('SELECT outbox.put($1, $1::text)', [key]);
          }
          await session.query('COMMIT');
        }
        await session.end();
      };
      await Promise.all([write(true), write(false), write(true), write(false)]);
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 1_200 });
    });

    test.each([
      ['5:20:5,15', '5:20:5'],
      ['5:20:5', '5:20:5,15'],
    ])('divide keeps the earliest snapshot of the ranges: %s and %s', async (first, second) => {
      await client.query('SELECT outbox.divide(2)');
      for (const [number, snapshot] of [first, second].entries()) {
        await client.query('UPDATE outbox.range SET batch_from = $1 WHERE number = $2', [snapshot, number + 1]);
      }
      // In one snapshot, transaction 15 is still in progress, so its range has not relayed the rows of this
      // transaction. The other snapshot contains transaction 15. Both snapshots have the same xmin and xmax.
      await client.query('SELECT outbox.divide(1)');
      expect(await one('SELECT batch_from::text AS earliest FROM outbox.range')).toEqual({ earliest: '5:20:5,15' });
    });
  });

  describe('a running relay', () => {
    test('fails with the error of Postgres if a table is missing', async () => {
      const ended = start();
      await client.query("SELECT outbox.put('k', 'one')");
      await until(() => records().length === 1);
      await client.query('DROP TABLE outbox.ended CASCADE');
      await client.query("SELECT outbox.put('k', 'two')");
      await expect(ended).rejects.toMatchObject({ code: '42P01' });
    });

    test('writes nothing to the database if no event is put for two minutes', async () => {
      // Autovacuum would also use transaction ids.
      await client.query('ALTER SYSTEM SET autovacuum = off');
      await client.query("SELECT pg_reload_conf(), outbox.put('k', 'one')");
      // The relay has its default intervals, and its clock runs faster.
      const hurried: Clock = {
        now: () => systemClock.now() * HURRY,
        schedule: (callback, ms) => systemClock.schedule(callback, ms / HURRY),
        sleep: (ms) => systemClock.sleep(ms / HURRY),
      };
      start(new OutboxRelay(pool, producerFor(kinesis), { clock: hurried }));
      await until(async () => (await one('SELECT count(*)::int AS rows FROM outbox.message')).rows === 0);
      // Each transaction that writes takes an id.
      const nextTransaction = () => one('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id');
      const idle = async (ms: number) => {
        const end = hurried.now() + ms;
        await until(() => hurried.now() > end);
      };
      await idle(60_000);
      const before = await nextTransaction();
      await idle(120_000);
      expect(await nextTransaction()).toEqual(before);
    });
  });

  describe('migrateOutbox on PostgreSQL', () => {
    const next = migration(
      OUTBOX_SCHEMA_VERSION + 1,
      `ALTER TABLE outbox.message ADD note text DEFAULT 'none';
       UPDATE outbox.settings SET version = ${OUTBOX_SCHEMA_VERSION + 1};`,
    );
    const toNext = (on: Client, lockTimeoutMs = 60_000) =>
      applyMigrations(on, 'outbox', [...outboxMigrations, next], lockTimeoutMs);

    test('migrates a filled outbox to the next version while writers and a relay continue', async () => {
      const writer = await server.connect(url);
      const isMigrated = { now: false };
      let written = 0;
      const writing = (async () => {
        for (let after = 0; after < 20; after += isMigrated.now ? 1 : 0) {
          await writer.query('SELECT outbox.put($1, $2)', [`key ${written % 7}`, `${written}`]);
          written += 1;
        }
      })();
      start().catch(() => {});
      await until(() => records().length > 50);
      expect(await toNext(client)).toEqual([OUTBOX_SCHEMA_VERSION + 1]);
      // An app of the earlier version also migrates when it starts.
      expect(await migrateOutbox(client)).toEqual([]);
      isMigrated.now = true;
      await writing;
      await writer.end();
      await stopAll();
      // A migration names the oldest release whose relays can use the new schema.
      await client.query("UPDATE outbox.settings SET format = '99@0.9.0'");
      await expect(start()).rejects.toMatchObject({ code: 'NEWER_FORMAT', version: 99, release: '0.9.0' });
      await client.query('UPDATE outbox.settings SET format = $1', [`${OUTBOX_SCHEMA_VERSION}@0.1.0`]);
      start();
      await until(() => new Set(texts()).size === written);
      await stopAll();
      for (let key = 0; key < 7; key++) {
        const consumed = withoutDuplicates(records()).filter(({ partitionKey }) => partitionKey === `key ${key}`);
        const numbers = consumed.map(({ data }) => Number(Buffer.from(data).toString()));
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
    });

    test('a running relay ends with NEWER_FORMAT after a migration whose format only later relays can use', async () => {
      const ended = start();
      await client.query("SELECT outbox.put('k', 'before')");
      await until(() => texts().length === 1);
      const changed = migration(
        OUTBOX_SCHEMA_VERSION + 1,
        `LOCK TABLE outbox.range IN EXCLUSIVE MODE;
         UPDATE outbox.range SET fence = fence + 1;
         UPDATE outbox.settings SET version = 99, format = '99@0.9.0';`,
      );
      await applyMigrations(client, 'outbox', [...outboxMigrations, changed], 60_000);
      await client.query("SELECT outbox.put('k', 'after')");
      await expect(ended).rejects.toMatchObject({ code: 'NEWER_FORMAT', version: 99, release: '0.9.0' });
      expect(texts()).toEqual(['before']);
    });

    test("joins the caller's transaction, and restores its settings afterwards", async () => {
      await client.query('DROP SCHEMA outbox CASCADE');
      await client.query("BEGIN; SET LOCAL search_path = 'somewhere'; SET LOCAL lock_timeout = '7s'");
      expect(await migrateOutbox(client)).toEqual(outboxMigrations.map(({ version }) => version));
      expect(await one('SHOW search_path')).toEqual({ search_path: 'somewhere' });
      expect(await one('SHOW lock_timeout')).toEqual({ lock_timeout: '7s' });
      await client.query('ROLLBACK');
      expect(await one("SELECT to_regnamespace('outbox') AS schema")).toEqual({ schema: null });
    });

    test('the SQL of a migration is atomic', async () => {
      await client.query('DROP SCHEMA outbox CASCADE');
      const broken = migration(OUTBOX_SCHEMA_VERSION, 'CREATE SCHEMA outbox; SELECT 1 / 0;');
      await expect(client.query(broken.sql)).rejects.toThrow('division by zero');
      expect(await one("SELECT to_regnamespace('outbox') AS schema")).toEqual({ schema: null });
    });

    test('rejects an outbox that a build before the first release created, as the relay does', async () => {
      await client.query(
        'DROP SCHEMA outbox CASCADE; CREATE SCHEMA outbox; CREATE TABLE outbox.settings (version integer)',
      );
      await client.query('INSERT INTO outbox.settings VALUES (2)');
      const rejection = { code: 'OUTBOX_SCHEMA', message: expect.stringContaining('a build before the first release') };
      await expect(migrateOutbox(client)).rejects.toMatchObject(rejection);
      await expect(client.query(outboxMigrations[0]!.sql)).rejects.toThrow('a build before the first release');
      await expect(start()).rejects.toMatchObject(rejection);
    });

    test('the SQL of a migration fails if the migration was already applied, and its error does not advise to drop the outbox', async () => {
      const twice = expect.objectContaining({ message: expect.stringContaining('has an outbox already') });
      await expect(client.query(outboxMigrations[0]!.sql)).rejects.toEqual(twice);
    });

    test('fails with an error that names the lock, if another session holds it', async () => {
      const stranger = await server.connect(url);
      await stranger.query("SELECT pg_advisory_lock(hashtext('outbox'), -1)");
      await expect(toNext(client, 100)).rejects.toMatchObject({
        code: 'OUTBOX_MIGRATION',
        message: expect.stringContaining("(hashtext('outbox'), -1)"),
      });
      await stranger.end();
    });
  });
});
