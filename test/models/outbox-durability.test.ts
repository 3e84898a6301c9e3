import { readFileSync } from 'node:fs';
import { type Client, Pool } from 'pg';
import type { UserRecord } from '../../lib/core';
import { migrateOutbox, OutboxRelay } from '../../lib/core/outbox';
import type { FakeKinesis } from '../../lib/testing/fake-kinesis';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import {
  FAST,
  producerFor,
  RunningRelays,
  realTimeKinesis,
  recordsIn,
  until as untilSoon,
} from '../support/postgres/relays';
import { withoutDuplicates } from '../support/without-duplicates';

/**
 * Tests what the outbox guide promises after a crash and after a promotion. The tests kill the processes of real
 * servers.
 */

const DEADLINE_MS = 60_000;
const WRITERS = 6;

/** The outbox guide has a table of crashes, promotions and restores. Returns the cells of the line for this event. */
function promise(event: string): string[] {
  const guide = readFileSync('docs/guides/outbox.md', 'utf8');
  const row = guide.split('\n').find((line) => line.startsWith(`| ${event} |`));
  return row!
    .split(' | ')
    .slice(1)
    .map((cell) => cell.replace(/ \|$/, ''));
}

const until = (isTrue: () => boolean | Promise<boolean>) => untilSoon(isTrue, DEADLINE_MS);

const textOf = ({ data }: UserRecord) => Buffer.from(data).toString();
const producersOf = (records: readonly UserRecord[]) => new Set(records.map(({ sequence }) => sequence!.producerId));
/** The data of the records that remain after a consumer has dropped duplicates. */
const consumed = (records: readonly UserRecord[]) => withoutDuplicates(records).map(textOf);

describeOnPostgres('an outbox', () => {
  let server: PostgresServer;
  let kinesis: FakeKinesis;
  let client: Client;
  const cleanups: (() => Promise<unknown>)[] = [];
  beforeEach(() => {
    kinesis = realTimeKinesis();
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup().catch(() => {});
    await server?.stop();
  });

  async function startServer(settings: readonly string[]): Promise<string> {
    server = await PostgresServer.start(settings);
    const url = await server.createDatabase('app');
    client = await connect(url);
    await migrateOutbox(client);
    await client.query('CREATE TABLE repositories (name text)');
    return url;
  }

  async function connect(url: string): Promise<Client> {
    const connected = await server.connect(url);
    cleanups.push(() => connected.end());
    return connected;
  }

  const sent = () => recordsIn(kinesis);
  const one = async (sql: string) => (await client.query(sql)).rows[0];
  const names = async () =>
    (await client.query('SELECT name FROM repositories')).rows.map(({ name }) => name as string);

  /** Starts a relay that runs until the test stops it or the server fails. */
  function startRelay(url: string): () => Promise<void> {
    const pool = new Pool({ connectionString: url, max: 2 });
    pool.on('error', () => {});
    const relay = new RunningRelays().start(new OutboxRelay(pool, producerFor(kinesis), FAST));
    const stop = async () => {
      await relay.stop().catch(() => {});
      await pool.end();
    };
    cleanups.push(stop);
    return stop;
  }

  /** Writes a change and its event in one transaction, repeatedly, until the server fails. */
  async function write(url: string, writer: number): Promise<void> {
    const session = await connect(url);
    try {
      for (let n = 0; ; n++) {
        await session.query('BEGIN');
        await session.query('INSERT INTO repositories VALUES ($1)', [`${writer} ${n}`]);
        await session.query('SELECT outbox.put($1, $2::text)', [`key ${writer}`, `${writer} ${n}`]);
        await session.query('COMMIT');
      }
    } catch {
      // The server has failed, so the writer ends.
    }
  }

  /** Without the WAL writer, no process flushes the WAL of an asynchronous commit. */
  async function stopWalWriter(): Promise<void> {
    const { pid } = await one("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
    process.kill(pid, 'SIGSTOP');
  }

  const put = (text: string) =>
    client.query("WITH row AS (INSERT INTO repositories VALUES ($1)) SELECT outbox.put('k', $1)", [text]);

  describe('a crash of a server with synchronous_commit = off', () => {
    beforeEach(async () => {
      await startServer(['synchronous_commit=off', 'wal_writer_delay=10s']);
    }, 60_000);

    test('the relay has sent only committed rows, no row is lost, and consumers drop all duplicates', async () => {
      expect(promise('the server crashes')).toEqual(['yes', 'yes', 'yes']);
      const url = server.urlOf('app');
      await stopWalWriter();
      startRelay(url);
      const writing = Array.from({ length: WRITERS }, (_, writer) => write(url, writer));
      await until(() => sent().length > 300);
      await server.crash();
      await Promise.all(writing);
      const before = sent().map(textOf);

      client = await connect(url);
      const there = await names();
      expect(before.filter((text) => !there.includes(text))).toEqual([]);
      await put('later');
      await until(() => sent().map(textOf).includes('later'));
      await until(async () => Number((await one('SELECT waiting_rows FROM outbox.lag()')).waiting_rows) === 0);
      expect(consumed(sent()).toSorted()).toEqual([...there, 'later'].toSorted());
      expect(producersOf(sent()).size).toBe(1);
      expect(await one('SELECT missing_rows::int FROM outbox.verify()')).toEqual({ missing_rows: 0 });
    }, 120_000);

    test('the relay can send a row that the crash then loses, if the transaction turned synchronous_commit off again after put', async () => {
      await client.query('CHECKPOINT');
      await stopWalWriter();
      startRelay(server.urlOf('app'));
      await client.query("BEGIN; SELECT outbox.put('k', 'gone'); SET LOCAL synchronous_commit = off; COMMIT");
      await until(() => sent().length === 1);
      await server.crash();
      client = await connect(server.urlOf('app'));
      expect(await one('SELECT count(*)::int AS rows FROM outbox.message')).toEqual({ rows: 0 });
    }, 120_000);
  });

  describe('a promotion of a replica', () => {
    let standbyUrl: string;
    let standby: Client;
    beforeEach(async () => {
      await startServer([]);
      const url = new URL(await server.startStandby());
      url.pathname = 'app';
      standbyUrl = url.href;
      standby = await connect(standbyUrl);
    }, 90_000);

    async function caughtUp(): Promise<void> {
      const { lsn } = await one('SELECT pg_current_wal_insert_lsn()::text AS lsn');
      const isThere = async () =>
        (await standby.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS is_there', [lsn])).rows[0].is_there;
      await until(isThere);
    }

    async function promote(): Promise<void> {
      await server.kill();
      await standby.query('SELECT pg_promote()');
      client = standby;
    }

    test('a synchronous replica: the relay has sent only committed rows, no row is lost, and the relay gets a new producer id', async () => {
      const [isKept, isTrue, areDropped] = promise('a synchronous replica or an Aurora replica is promoted');
      expect([isKept, isTrue]).toEqual(['yes', 'yes']);
      expect(areDropped).toMatch(/^yes, except for rows that were sent in the second before the promotion/);
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await client.query('SELECT pg_reload_conf()');
      await until(async () => (await one('SELECT sync_state FROM pg_stat_replication'))?.sync_state === 'sync');
      const url = server.urlOf('app');
      startRelay(url);
      const writing = Array.from({ length: WRITERS }, (_, writer) => write(url, writer));
      await until(() => sent().length > 300);
      await promote();
      await Promise.all(writing);
      const before = sent();

      const there = await names();
      expect(before.map(textOf).filter((text) => !there.includes(text))).toEqual([]);
      startRelay(standbyUrl);
      await put('later');
      await until(() => sent().map(textOf).includes('later'));
      await until(async () => Number((await one('SELECT waiting_rows FROM outbox.lag()')).waiting_rows) === 0);
      expect([...new Set(sent().map(textOf))].toSorted()).toEqual([...there, 'later'].toSorted());
      expect(producersOf(sent()).size).toBe(2);
    }, 120_000);

    test('an asynchronous replica: rows that the relay has sent can be missing, and later rows get the same numbers with a new producer id', async () => {
      const [isKept, isTrue] = promise('an asynchronous replica is promoted');
      expect([isKept, isTrue]).toEqual([
        'no: the database loses transactions that the replica did not have',
        'no: the relay may have sent these transactions',
      ]);
      const stop = startRelay(server.urlOf('app'));
      await put('early');
      await until(() => sent().length === 1);
      await stop();
      await put('replicated');
      await caughtUp();
      await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
      await standby.query('SELECT pg_reload_conf()');
      await until(async () => (await standby.query('SELECT FROM pg_stat_wal_receiver')).rowCount === 0);
      // Postgres writes a sequence to the WAL for 32 numbers in advance. With more than 32 missing rows, the new server
      // uses numbers again.
      const missing = Array.from({ length: 40 }, (_, n) => `missing ${n}`);
      for (const text of missing) await put(text);
      startRelay(server.urlOf('app'));
      await until(() => sent().length === 42);
      await promote();
      const before = sent();

      expect((await names()).toSorted()).toEqual(['early', 'replicated']);
      startRelay(standbyUrl);
      const after = Array.from({ length: 40 }, (_, n) => `after ${n}`);
      for (const text of after) await put(text);
      await until(() => sent().map(textOf).includes('after 39'));
      const since = sent().slice(before.length);
      const numbersOf = (records: readonly UserRecord[]) => records.map(({ sequence }) => sequence!.sequenceNumber);
      expect(numbersOf(since).some((number) => numbersOf(before).includes(number))).toBe(true);
      expect([...producersOf(since)]).not.toEqual([...producersOf(before)]);
      // After the promotion, the relay sends the rows of the last second again. The producer id is new, so consumers
      // do not recognise these rows as duplicates.
      expect(consumed(sent())).toEqual(['early', 'replicated', ...missing, 'replicated', ...after]);
    }, 120_000);
  });
});
