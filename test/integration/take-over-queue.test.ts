import { readFileSync } from 'node:fs';
import type { Client, Pool } from 'pg';
import { systemClock } from '../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../lib/core/outbox';
import { seededRandom } from '../../lib/testing/seeded-random';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import { FAST, producerFor, RunningRelays, realTimeKinesis, recordsIn, until } from '../support/postgres/relays';

/** The queue of "Guaranteeing Order with Kinesis Bulk Puts" becomes an outbox while its writers continue. */

const TAKE_OVER = readFileSync('examples/repository-outbox/take-over-queue.sql', 'utf8');

/** The statement of the article. */
const FIRST_OF_EACH_KEY = `SELECT id, partition_key, record_data FROM kinesis_records
WHERE id IN (SELECT MIN(id) FROM kinesis_records GROUP BY partition_key)
ORDER BY id`;

const WRITERS = 6;
const KEYS_OF_A_WRITER = 4;
const TRANSACTIONS_OF_A_WRITER = 60;

describeOnPostgres('take-over-queue.sql', () => {
  let server: PostgresServer;
  let url: string;
  let owner: Client;
  let pool: Pool;
  let databases = 0;

  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 90_000);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    url = await server.createDatabase(`queue_${databases++}`);
    owner = await server.connect(url);
    pool = server.pool(url, WRITERS + 4);
    await owner.query(
      'CREATE TABLE kinesis_records (id bigserial PRIMARY KEY, partition_key text NOT NULL, record_data json NOT NULL)',
    );
    await migrateOutbox(owner);
  });
  afterEach(async () => {
    await owner.end();
  });

  /** The numbers that were sent for each key, in order. */
  type Sent = Map<string, number[]>;

  function note(sent: Sent, key: string, data: string): void {
    sent.set(key, [...(sent.get(key) ?? []), JSON.parse(data).n]);
  }

  /** The worker of the article. It selects, sends and deletes rows in one transaction. */
  async function drainAsTheArticle(sent: Sent, isStopped: () => boolean): Promise<void> {
    const worker = await pool.connect();
    while (!isStopped()) {
      await worker.query('BEGIN');
      const { rows } = await worker.query(FIRST_OF_EACH_KEY);
      for (const { partition_key, record_data } of rows) note(sent, partition_key, JSON.stringify(record_data));
      await worker.query('DELETE FROM kinesis_records WHERE id = ANY ($1)', [rows.map(({ id }) => id)]);
      await worker.query('COMMIT');
    }
    worker.release();
  }

  /** Writes with the unchanged statement of the application. Every fourth transaction is rolled back. */
  async function write(writer: number, committed: Sent): Promise<void> {
    const random = seededRandom(writer + 1);
    const client = await pool.connect();
    const next = new Map<string, number>();
    for (let transaction = 0; transaction < TRANSACTIONS_OF_A_WRITER; transaction++) {
      await client.query('BEGIN');
      const written: [string, number][] = [];
      for (let row = 0; row <= transaction % 3; row++) {
        const key = `writer-${writer}-${Math.floor(KEYS_OF_A_WRITER * random())}`;
        const n = next.get(key) ?? 0;
        next.set(key, n + 1);
        const insert = 'INSERT INTO kinesis_records (partition_key, record_data) VALUES ($1, $2) RETURNING id';
        const { rows } = await client.query(insert, [key, JSON.stringify({ n })]);
        expect(rows).toHaveLength(1);
        written.push([key, n]);
      }
      const isCommitted = random() >= 0.25;
      await client.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
      if (isCommitted) for (const [key, n] of written) note(committed, key, JSON.stringify({ n }));
    }
    client.release();
  }

  async function relayAll(sent: Sent): Promise<void> {
    const kinesis = realTimeKinesis({ shardCount: 2 });
    const relay = new RunningRelays().start(new OutboxRelay(pool, producerFor(kinesis), FAST));
    await until(async () => (await owner.query('SELECT waiting_rows FROM outbox.lag()')).rows[0].waiting_rows === '0');
    await relay.stop();
    for (const { partitionKey, data } of recordsIn(kinesis)) note(sent, partitionKey, Buffer.from(data).toString());
  }

  test('loses and duplicates no row, and keeps the order of each key, while writers continue', async () => {
    const [committed, sent]: [Sent, Sent] = [new Map(), new Map()];
    let isStopped = false;
    const drained = drainAsTheArticle(sent, () => isStopped);
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer, committed)));
    while ([...sent.values()].flat().length < 50) await systemClock.sleep(1);
    isStopped = true;
    await drained;
    const sentBefore = [...sent.values()].flat().length;
    await owner.query(`BEGIN; ${TAKE_OVER}; COMMIT`);
    const { rows: counts } = await owner.query('SELECT count(*)::int AS taken FROM outbox.message');
    await writers;
    const { rows: left } = await owner.query('SELECT count(*)::int AS rows FROM kinesis_records');
    expect(left[0].rows).toBe(0);
    await relayAll(sent);
    expect(Object.fromEntries(sent)).toEqual(Object.fromEntries(committed));
    expect(counts[0].taken).toBeGreaterThan(0);
    expect([...sent.values()].flat().length).toBeGreaterThan(sentBefore + counts[0].taken / 2);
  }, 60_000);

  test('golden: for the five rows of the article, three runs of the statement in the article select three rows, one row and one row', async () => {
    const [first, second, third] = [
      '8a9e7a19-9fe1-49b2-9b42-591520784449',
      'd0d97986-0c90-404f-bccd-9ac6c27f9235',
      'b20d88bc-ba68-41e3-87cb-3a93cc619833',
    ];
    await owner.query(
      `INSERT INTO kinesis_records (partition_key, record_data) SELECT key, json_build_object('resource', 'app', 'action', action)
      FROM unnest($1::text[], $2::text[]) AS row (key, action)`,
      [
        [first, second, first, first, third],
        ['create', 'create', 'update', 'destroy', 'update'],
      ],
    );
    const batches: string[][] = [];
    for (;;) {
      const { rows } = await owner.query(FIRST_OF_EACH_KEY);
      if (rows.length === 0) break;
      batches.push(rows.map(({ partition_key, record_data }) => `${partition_key} ${record_data.action}`));
      await owner.query('DELETE FROM kinesis_records WHERE id = ANY ($1)', [rows.map(({ id }) => id)]);
    }
    expect(batches).toEqual([
      [`${first} create`, `${second} create`, `${third} update`],
      [`${first} update`],
      [`${first} destroy`],
    ]);
  });

  test('waits for a worker that has sent rows and has not deleted them yet', async () => {
    const sent: Sent = new Map();
    await owner.query(
      `INSERT INTO kinesis_records (partition_key, record_data) VALUES ('a', '{"n":0}'), ('a', '{"n":1}')`,
    );
    const worker = await server.connect(url);
    await worker.query('BEGIN');
    const { rows } = await worker.query(FIRST_OF_EACH_KEY);
    for (const { partition_key, record_data } of rows) note(sent, partition_key, JSON.stringify(record_data));
    const taken = owner.query(`BEGIN; ${TAKE_OVER}; COMMIT`);
    await worker.query('DELETE FROM kinesis_records WHERE id = ANY ($1)', [rows.map(({ id }) => id)]);
    await worker.query('COMMIT');
    await worker.end();
    await taken;
    await relayAll(sent);
    expect(sent.get('a')).toEqual([0, 1]);
  }, 60_000);

  test('works with an empty queue, and with a role that has only the INSERT privilege', async () => {
    await owner.query(`BEGIN; ${TAKE_OVER}; COMMIT`);
    await owner.query(`CREATE ROLE writer_${databases} LOGIN; GRANT INSERT ON kinesis_records TO writer_${databases};
      GRANT USAGE ON SEQUENCE kinesis_records_id_seq TO writer_${databases}; SET ROLE writer_${databases}`);
    await owner.query(`INSERT INTO kinesis_records (partition_key, record_data) VALUES ('a', '{"n":7}')`);
    await owner.query('RESET ROLE');
    const sent: Sent = new Map();
    await relayAll(sent);
    expect(sent.get('a')).toEqual([7]);
  }, 60_000);
});
