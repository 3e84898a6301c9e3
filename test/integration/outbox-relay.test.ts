import { readFileSync } from 'node:fs';
import { type Client, Pool, type PoolClient } from 'pg';
import { OrderedProducer, type PutRecordsInput } from '../../lib/core';
import { systemClock } from '../../lib/core/kernel/clock';
import {
  migrateOutbox,
  OutboxPermissionError,
  OutboxRelay,
  type OutboxRowError,
  OutboxSequenceError,
  outboxMigrations,
  outboxMigrationsOf,
  type PostgresClient,
  type PostgresPool,
  type PostgresQuery,
} from '../../lib/core/outbox';
import { Connection } from '../../lib/core/outbox/connection';
import { WITHOUT_ENVELOPE } from '../../lib/core/outbox/envelope';
import { KeyRanges } from '../../lib/core/outbox/key-ranges';
import { NewRows } from '../../lib/core/outbox/new-rows';
import { relaySettings } from '../../lib/core/outbox/relay-options';
import { RelaySession } from '../../lib/core/outbox/relay-session';
import { noRelaySummary } from '../../lib/core/outbox/relay-summary';
import type { StatementName } from '../../lib/core/outbox/sql-text';
import { Statements } from '../../lib/core/outbox/statements';
import type { FakeKinesis, FakeKinesisOptions } from '../../lib/testing/fake-kinesis';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { statementName } from '../support/postgres/outbox-statements';
import { PostgresServer } from '../support/postgres/postgres-server';
import {
  FAST,
  RunningRelays,
  producerFor as realProducer,
  realTimeKinesis,
  recordsIn,
  textsIn as seen,
  until,
} from '../support/postgres/relays';
import { tuned } from '../support/postgres/tuned';

const statementsOn = (client: PostgresClient) => new Statements(new Connection(client, { ms: 5_000 }), 'outbox');

/** The first SQL example after a heading of the outbox guide. */
function statementOfGuide(heading: string): string {
  const guide = readFileSync('docs/guides/outbox.md', 'utf8');
  const [, statement] = guide.slice(guide.indexOf(`\n${heading}\n`)).split(/^```sql\n|^```$/m);
  return statement!;
}

describeOnPostgres('OutboxRelay on PostgreSQL', () => {
  let server: PostgresServer;
  let tests = 0;
  let url: string;
  let pool: Pool;
  let client: Client;
  const relays = new RunningRelays();

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = server.urlOf('postgres');
    pool = server.pool(url);
  }, 60_000);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    tests += 1;
    client = await server.connect(url);
    await client.query('DROP SCHEMA IF EXISTS outbox CASCADE');
    await migrateOutbox(client);
  });
  afterEach(async () => {
    await relays.stop();
    await client.end();
  });

  const fakeKinesis = (options: Partial<FakeKinesisOptions> = {}) => realTimeKinesis({ shardCount: 2, ...options });
  const producerFor = (kinesis: FakeKinesis) => realProducer(kinesis, { backoffBaseMs: 1, maxAttempts: 3 });
  const start = relays.start.bind(relays);

  /** A stream that rejects records with the text `poison`. */
  const rejecting = (isPoisonous = () => true) =>
    fakeKinesis({
      entryFate: ({ Data }) => (isPoisonous() && Buffer.from(Data).includes('poison') ? 'refused' : 'stored'),
    });

  const put = (key: string, data: string, on: Pick<Client, 'query'> = client) =>
    on.query('SELECT outbox.put($1, $2)', [key, data]);

  const rowsOf = async (sql: string) => (await client.query(sql)).rows;

  describe('the schema', () => {
    test('is created once if two callers migrate at the same time', async () => {
      await client.query('DROP SCHEMA outbox CASCADE');
      const other = await server.connect(url);
      const made = await Promise.all([migrateOutbox(client), migrateOutbox(other)]);
      await other.end();
      expect(made.flat()).toEqual(outboxMigrations.map(({ version }) => version));
      expect(await migrateOutbox(client)).toEqual([]);
    });

    test('can have every name that Postgres accepts without quotes, and no other name', async () => {
      const words = await rowsOf(
        "(SELECT word FROM pg_get_keywords() WHERE catcode <> 'U') UNION ALL (SELECT word FROM pg_get_keywords() WHERE catcode = 'U' LIMIT 9)",
      );
      const rejectedByPostgres: string[] = [];
      const rejected: string[] = [];
      for (const [index, name] of [...words.map(({ word }) => word as string), 'pg_outbox', 'outbox_pg'].entries()) {
        try {
          outboxMigrationsOf(name);
        } catch {
          rejected.push(name);
        }
        await client.query('BEGIN');
        // All migrations take long, so only some names try all of them.
        const short = 'CREATE SCHEMA outbox; CREATE TYPE outbox.result AS (n int); SELECT NULL::outbox.result';
        const sql = index % 8 === 0 ? outboxMigrations.map((migration) => migration.sql).join('') : short;
        await client.query(sql.replaceAll('outbox', name)).catch(() => rejectedByPostgres.push(name));
        await client.query('ROLLBACK');
      }
      expect(rejected).toEqual(rejectedByPostgres);
      expect(rejected.length).toBeGreaterThan(150);
    }, 60_000);
  });

  describe('a running relay', () => {
    test('sends rows that were put as text, JSON or bytes, in bulk or by a plain INSERT, with their explicit hash keys', async () => {
      const kinesis = fakeKinesis();
      await client.query("SELECT outbox.put('k', 'text')");
      await client.query(`SELECT outbox.put('k', '{"a":1}'::jsonb)`);
      await client.query("SELECT outbox.put('k', '\\x00ff'::bytea)");
      await client.query("SELECT outbox.put('m', 'elsewhere', 7)");
      await client.query("SELECT outbox.put_all('{k,l,k}', ARRAY['one', 'two', 'three']::bytea[])");
      await client.query("INSERT INTO outbox.message (partition_key, data) VALUES ('k', 'plain'), ('l', 'insert')");
      start(new OutboxRelay(pool, producerFor(kinesis), FAST));
      await until(() => seen(kinesis).length === 9);
      expect(seen(kinesis, 'k')).toEqual(['text', '{"a": 1}', '\0\ufffd', 'one', 'three', 'plain']);
      expect(seen(kinesis, 'l')).toEqual(['two', 'insert']);
      const hashKeys = recordsIn(kinesis).map((each) => each.explicitHashKey);
      expect(hashKeys.filter((hashKey) => hashKey === 7n)).toHaveLength(1);
    });

    test('sends a row soon after its notification, even if it polls rarely', async () => {
      const kinesis = fakeKinesis();
      start(new OutboxRelay(pool, producerFor(kinesis), tuned({ ...FAST, pollMs: 2 ** 31 - 1 })));
      const slept = async () =>
        (await client.query('SELECT last_value::int AS sleeping FROM outbox.sleeping')).rows[0].sleeping === 1;
      await until(slept);
      await systemClock.sleep(500);
      await put('k', 'one');
      await until(() => seen(kinesis).length === 1);
    });
  });

  describe('workers', () => {
    test('a worker continues on another connection when its connection is lost', async () => {
      const kinesis = fakeKinesis();
      const lost: Error[] = [];
      const relay = start(
        new OutboxRelay(pool, producerFor(kinesis), { ...FAST, onReconnect: (error) => lost.push(error) }),
      );
      await put('k', 'one');
      await until(() => seen(kinesis).length === 1);
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE objid::bigint IN (SELECT lock FROM outbox.range)`,
      );
      await put('k', 'two');
      await until(() => seen(kinesis).includes('two'));
      expect((await relay.stop()).reconnects).toBeGreaterThan(0);
      expect(lost[0]).toMatchObject({ code: 'OUTBOX_CONNECTION' });
    });

    test('workers share the ranges evenly, also after divide() changes the number of ranges', async () => {
      const kinesis = fakeKinesis();
      const held = async () => {
        const { rows } = await client.query(
          `SELECT count(*)::int AS ranges FROM pg_locks WHERE objid::bigint IN (SELECT lock FROM outbox.range) GROUP BY pid`,
        );
        return rows.map(({ ranges }) => ranges).sort();
      };
      await client.query('SELECT outbox.divide(4)');
      const relays = [1, 2].map(() => start(new OutboxRelay(pool, producerFor(kinesis), FAST)));
      await until(async () => String(await held()) === '2,2');
      for (let n = 0; n < 100; n++) await put(`k${n % 10}`, String(n));
      await until(() => seen(kinesis).length >= 100);
      await client.query('SELECT outbox.divide(2)');
      await until(async () => String(await held()) === '1,1');
      await put('k0', 'more');
      await until(() => seen(kinesis, 'k0').includes('more'));
      await Promise.all(relays.map((relay) => relay.stop()));
      expect(seen(kinesis, 'k0').filter((data, index, all) => all.indexOf(data) === index)).toEqual([
        ...Array.from({ length: 10 }, (_, n) => String(10 * n)),
        'more',
      ]);
    });

    test('a worker with standsBy: false ends if each of the other workers has one range and no range is free', async () => {
      await client.query('SELECT outbox.divide(2)');
      const relay = () => new OutboxRelay(pool, producerFor(fakeKinesis()), FAST);
      const first = start(relay());
      await until(async () => (await rowsOf('SELECT FROM outbox.range WHERE fence = 2')).length === 2);
      const second = start(relay(), { standsBy: false });
      await until(async () => (await rowsOf('SELECT FROM outbox.range WHERE fence = 3')).length === 1);
      expect(await start(relay(), { standsBy: false }).ended).toEqual(noRelaySummary());
      await first.stop();
      await until(async () => (await rowsOf('SELECT FROM outbox.range WHERE fence = 3')).length === 2);
      await second.stop();
    });
  });

  describe('a Postgres that does not respond', () => {
    const NEVER = new Promise<never>(() => {});

    /** A connection that stops responding at the first statement with this name. */
    function silentFrom(name: StatementName, connection: Client | PoolClient) {
      let isSilent = false;
      return {
        query: (query: PostgresQuery) => {
          isSilent ||= statementName(query) === name;
          return isSilent ? NEVER : connection.query(query);
        },
        on: connection.on.bind(connection),
        removeListener: connection.removeListener.bind(connection),
      };
    }

    /** A pool whose first connection stops responding at this statement. */
    function poolSilentFrom(name: StatementName): PostgresPool {
      let connections = 0;
      return {
        totalCount: 0,
        connect: async () => {
          const connection = await pool.connect();
          const release = connection.release.bind(connection);
          connections += 1;
          return (connections === 1 ? { ...silentFrom(name, connection), release } : connection) as never;
        },
      };
    }

    test.each([
      'readSession',
      'findMissingPermissions',
      'listen',
      'lockRange',
      'readBatch',
      'savePosition',
      'unlockRange',
    ] as const)(
      'if all sessions of a relay end before %s, the relay sends every row in order, and leaves no session',
      async (name) => {
        const kinesis = fakeKinesis();
        const own = new Pool({ connectionString: `${url}?application_name=interrupted`, max: 2 });
        own.on('error', () => {});
        const sessions = "FROM pg_stat_activity WHERE application_name = 'interrupted'";
        let isInterrupted = false;
        const interrupted: PostgresPool = {
          totalCount: 0,
          options: own.options,
          connect: async () => {
            const connection = await own.connect();
            const query = async (statement: PostgresQuery) => {
              if (!isInterrupted && statementName(statement) === name) {
                isInterrupted = true;
                await client.query(`SELECT pg_terminate_backend(pid, 5000) ${sessions}`);
              }
              return connection.query(statement);
            };
            const [on, removeListener] = [connection.on.bind(connection), connection.removeListener.bind(connection)];
            return { query, on, removeListener, release: connection.release.bind(connection) };
          },
        };
        await client.query("SELECT outbox.put('k' || n % 2, n::text) FROM generate_series(1, 6) n");
        const relay = start(new OutboxRelay(interrupted, producerFor(kinesis), tuned({ ...FAST, batchRows: 2 })));
        const sent = (key: string) => [...new Set(seen(kinesis, key))];
        await until(() => new Set(seen(kinesis)).size === 6);
        await relay.stop();
        expect([isInterrupted, sent('k0'), sent('k1')]).toEqual([true, ['2', '4', '6'], ['1', '3', '5']]);
        expect(own.idleCount).toBe(own.totalCount);
        await own.end();
        await until(async () => (await rowsOf(`SELECT ${sessions}`)).length === 0);
      },
    );

    test.each(['readSession', 'readCacheSize', 'takeOverRange', 'savePosition'] as const)(
      'the relay continues on another connection, if %s has no response',
      async (name) => {
        const kinesis = fakeKinesis();
        const relay = new OutboxRelay(
          poolSilentFrom(name),
          producerFor(kinesis),
          tuned({ ...FAST, rotateMs: 50, statementTimeoutMs: 500 }),
        );
        start(relay);
        await put('k', 'one');
        await until(
          async () => (await rowsOf("SELECT FROM outbox.range WHERE batch_from::text <> '3:3:'")).length === 1,
        );
        expect(new Set(seen(kinesis))).toEqual(new Set(['one']));
        await until(() => relay.summary().reconnects > 0);
      },
    );

    test('the relay sets statement_timeout on the server, and restores it at the end', async () => {
      const before = '1h';
      const own = await server.connect(url);
      await own.query(`SET statement_timeout = '${before}'`);
      const relay = start(new OutboxRelay(own, producerFor(fakeKinesis()), { ...FAST, statementTimeoutMs: 5_000 }));
      await until(async () => (await rowsOf('SELECT FROM outbox.range WHERE fence > 0')).length === 1);
      const { rows } = await own.query('SHOW statement_timeout');
      await relay.stop();
      const { rows: after } = await own.query('SHOW statement_timeout');
      await own.end();
      expect([rows[0].statement_timeout, after[0].statement_timeout]).toEqual(['5s', before]);
    });
  });

  describe('a rejected row', () => {
    test('a rejected row blocks only its key, and the relay retries the row', async () => {
      let isPoisonous = true;
      const kinesis = rejecting(() => isPoisonous);
      const errors: OutboxRowError[] = [];
      start(new OutboxRelay(pool, producerFor(kinesis), { ...FAST, onRejected: (error) => errors.push(error) }));
      for (const data of ['one', 'poison', 'three']) {
        await put('k', data);
        await put('other', data.replace('poison', 'two'));
      }
      await until(() => errors.length >= 3);
      expect(seen(kinesis, 'other')).toEqual(['one', 'two', 'three']);
      expect(seen(kinesis, 'k')).toEqual(['one']);
      expect(errors.map(({ tries }) => tries).slice(0, 3)).toEqual([1, 2, 3]);
      expect(errors[0]).toMatchObject({ code: 'OUTBOX_ROW', partitionKey: 'k', isGivenUp: false });
      await put('k', 'four');
      isPoisonous = false;
      await until(() => seen(kinesis, 'k').length === 4);
      expect(seen(kinesis, 'k')).toEqual(['one', 'poison', 'three', 'four']);
      await until(async () => (await client.query('SELECT FROM outbox.parked')).rowCount === 0);
    });

    test('after maxTries, the relay moves a rejected row to the table `rejected`, and the statement of the guide puts the row again', async () => {
      let isPoisonous = true;
      const kinesis = rejecting(() => isPoisonous);
      const relay = start(new OutboxRelay(pool, producerFor(kinesis), { ...FAST, maxTries: 2 }));
      for (const data of ['one', 'poison', 'three']) await put('k', data);
      await until(() => seen(kinesis, 'k').length === 2);
      expect(seen(kinesis, 'k')).toEqual(['one', 'three']);
      const { rows } = await client.query('SELECT partition_key, data, tries, last_error FROM outbox.rejected');
      expect(rows).toEqual([
        { partition_key: 'k', data: Buffer.from('poison'), tries: 2, last_error: expect.stringContaining('refused') },
      ]);

      isPoisonous = false;
      const [rejected] = await rowsOf('SELECT id FROM outbox.rejected');
      await client.query(statementOfGuide('## Operating').replace('123', rejected.id));
      await until(() => seen(kinesis, 'k').length === 3);
      expect(seen(kinesis, 'k')).toEqual(['one', 'three', 'poison']);
      expect(await rowsOf('SELECT id FROM outbox.rejected')).toEqual([]);
      expect(await relay.stop()).toMatchObject({ relayed: 3, rejections: 2, givenUp: 1 });
    });

    test('a rejected row keeps its number of tries when another worker continues', async () => {
      const kinesis = rejecting();
      await put('k', 'poison');
      for (let worker = 1; worker <= 3; worker++) {
        const relay = start(new OutboxRelay(pool, producerFor(kinesis), { ...FAST, retryMs: 1, maxTries: 100 }));
        await until(async () => {
          const { rows } = await client.query('SELECT tries FROM outbox.parked');
          return rows[0]?.tries >= 2 * worker;
        });
        await relay.stop();
      }
    });

    test('a row larger than the limit of the stream is parked without a request', async () => {
      const kinesis = fakeKinesis();
      const errors: OutboxRowError[] = [];
      start(new OutboxRelay(pool, producerFor(kinesis), { ...FAST, onRejected: (error) => errors.push(error) }));
      await client.query('SELECT outbox.accept_records_of(10485760)');
      await client.query("SELECT outbox.put('k', repeat('x', 1048577))");
      await until(() => errors.length > 0);
      expect(errors[0]!.cause).toMatchObject({ code: 'RECORD_TOO_LARGE', field: 'data' });
      expect(kinesis.requests).toEqual([]);
      expect((await client.query('SELECT id FROM outbox.parked')).rows).toEqual([{ id: String(errors[0]!.id) }]);
    });
  });

  test('a key with many rows does not delay the rows of other keys', async () => {
    const kinesis = fakeKinesis();
    let sendHot = () => {};
    const otherIsSent = new Promise<void>((resolve) => {
      sendHot = resolve;
    });
    const holdsHotBack = {
      async putRecords(input: PutRecordsInput) {
        if (input.Records.some(({ PartitionKey }) => PartitionKey === 'other')) sendHot();
        await otherIsSent;
        return kinesis.putRecords(input);
      },
    };
    const producer = new OrderedProducer(holdsHotBack, { streamName: 'Events', aggregation: true });
    await client.query(`SELECT outbox.put('hot', n::text) FROM generate_series(1, 1000) n`);
    await put('other', 'one');
    const relay = start(new OutboxRelay(pool, producer, tuned({ ...FAST, batchRows: 100, maxRowsInFlight: 80 })));
    await until(() => seen(kinesis, 'hot').length === 1_000);
    expect(seen(kinesis, 'hot')).toEqual(Array.from({ length: 1_000 }, (_, n) => String(n + 1)));
    expect((await relay.stop()).parked).toBeGreaterThan(0);
  }, 30_000);

  test('the relay reads each waiting row of a hot key once, even while another session prevents the removal of deleted rows', async () => {
    const rows = 800;
    const holder = await server.connect(url);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT 1');
    await client.query(`SELECT outbox.put('hot', n::text) FROM generate_series(1, ${rows}) n`);
    const options = { ...FAST, maxRowsInFlight: 320, batchRows: 40 };
    const own = new Pool({ connectionString: url });
    const relay = new OutboxRelay(own, producerFor(fakeKinesis({ roundTripMs: () => 20 })), options);
    const run = start(relay);
    await until(() => relay.summary().relayed >= rows);
    expect((await run.stop()).parked).toBeGreaterThan(rows / 2);
    // A session reports its statistics when it ends.
    await own.end();
    await holder.query('COMMIT');
    await holder.end();
    // The relay reads each row once to send the row, and once to remove it. If the relay read all waiting rows in each
    // of 20 batches, it would read ten times as many rows.
    const entriesRead = async () => {
      const { rows: found } = await client.query(
        `SELECT idx_tup_read FROM pg_stat_all_indexes WHERE schemaname = 'outbox' AND indexrelname = 'parked_pkey'`,
      );
      return Number(found[0].idx_tup_read);
    };
    await until(async () => (await entriesRead()) >= rows / 2);
    expect(await entriesRead()).toBeLessThan(4 * rows);
  }, 60_000);

  test('the table does not grow while another session holds a snapshot', async () => {
    const kinesis = fakeKinesis();
    const holder = await server.connect(url);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT 1');
    start(new OutboxRelay(pool, producerFor(kinesis), tuned({ ...FAST, rotateMs: 20 })));
    const size = async () =>
      Number(
        (await client.query(`SELECT sum(pg_relation_size(relid)) AS size FROM pg_partition_tree('outbox.message')`))
          .rows[0].size,
      );
    let largest = 0;
    for (let n = 0; n < 30; n++) {
      await client.query(`SELECT outbox.put('k' || i % 50, repeat('x', 100)) FROM generate_series(1, 500) i`);
      await systemClock.sleep(30);
      largest = Math.max(largest, await size());
    }
    await until(() => seen(kinesis).length >= 15_000);
    await until(async () => (await size()) < 500_000);
    await holder.query('COMMIT');
    await holder.end();
    expect(largest).toBeLessThan(2_000_000);
  }, 30_000);

  test('a batch reads only its own rows, even if the planner has no statistics', async () => {
    await client.query(
      `SELECT outbox.put_all(array_agg('key-' || n % 100), array_agg('data'::text)) FROM generate_series(1, 30000) n`,
    );
    const queries: PostgresQuery[] = [];
    const session = await server.connect(url);
    const recording: PostgresClient = {
      query: (query) => {
        queries.push(query);
        return session.query(query);
      },
      on: () => {},
      removeListener: () => {},
    };
    const statements = statementsOn(recording);
    await new RelaySession(statements, relaySettings({})).begin();
    const range = (await new KeyRanges(statements).claim([]))!;
    const { from } = range.position;
    const newRows = new NewRows(statements, range, WITHOUT_ENVELOPE);
    const span = { from, ...(await newRows.takeSnapshot(from)) };
    const limits = { afterId: 0n, maxRows: 100, maxBytes: 9_999, findsParkedKeys: true };
    const { rows } = await newRows.readBatch(span, limits);
    expect(rows).toHaveLength(100);
    const { text, values } = queries.at(-1)!;
    const { rows: plan } = await session.query({ text: `EXPLAIN ANALYZE ${text}`, values });
    const read = plan.map((line) => Number(/actual .* rows=([\d.]+)/.exec(line['QUERY PLAN'])?.[1] ?? 0));
    expect(Math.max(...read)).toBe(100);
    await session.end();
  });

  describe('starting a relay', () => {
    const starts = (from: Pool = pool) => start(new OutboxRelay(from, producerFor(fakeKinesis()), FAST)).ended;

    test('fails if the outbox schema is missing, or if only later relays can use it', async () => {
      await client.query("UPDATE outbox.settings SET version = 99, format = '99@0.9.0'");
      await expect(starts()).rejects.toMatchObject({ code: 'NEWER_FORMAT', version: 99, release: '0.9.0' });
      await client.query('DROP SCHEMA outbox CASCADE');
      await expect(starts()).rejects.toMatchObject({ code: 'OUTBOX_SCHEMA', version: 0 });
    });

    test('fails without privileges, with an error that names the privileges, and succeeds with the privileges of grant_relay', async () => {
      const role = `relay_${tests}`;
      await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'relay'`);
      const limited = server.pool(server.urlOf('postgres', { user: role, password: 'relay' }));
      await expect(starts(limited)).rejects.toThrow(OutboxPermissionError);
      await client.query(`SELECT outbox.grant_relay('${role}')`);
      await client.query(`REVOKE UPDATE ON outbox.range FROM ${role}`);
      await expect(starts(limited)).rejects.toMatchObject({ role, missing: ['UPDATE on outbox.range'] });
      await client.query(`SELECT outbox.grant_relay('${role}')`);
      const kinesis = rejecting();
      await put('k', 'poison');
      await put('k', 'one');
      const relay = start(
        new OutboxRelay(limited, producerFor(kinesis), tuned({ ...FAST, rotateMs: 20, maxTries: 2 })),
      );
      await until(() => seen(kinesis).length === 1);
      await until(async () => (await client.query('SELECT FROM outbox.message')).rowCount === 0);
      await relay.stop();
    });

    test('fails if the sequence of the outbox caches numbers', async () => {
      await client.query('ALTER SEQUENCE outbox.number CACHE 10');
      await expect(starts()).rejects.toThrow(OutboxSequenceError);
    });
  });

  test('a role with the privileges of grant_put can only put rows', async () => {
    const role = `writer_${tests}`;
    await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'writer'`);
    await client.query(`SELECT outbox.grant_put('${role}')`);
    const writer = server.pool(server.urlOf('postgres', { user: role, password: 'writer' }));
    await put('k', 'one', writer);
    await writer.query(`SELECT outbox.put_all('{k}', '{two}')`);
    await writer.query("INSERT INTO outbox.message (partition_key, data) VALUES ('k', 'three')");
    for (const denied of [
      'SELECT FROM outbox.message',
      'DELETE FROM outbox.message',
      "INSERT INTO outbox.message (id, xid, slot, bucket, partition_key, data) VALUES (0, '3', 0, 0, 'k', 'x')",
      'SELECT outbox.rotate()',
      'SELECT outbox.divide(2)',
      `SELECT outbox.grant_relay('${role}')`,
    ]) {
      await expect(writer.query(denied)).rejects.toThrow(/permission denied/);
    }
  });

  test('lag counts waiting rows and the seconds that the oldest row has waited', async () => {
    const lag = async () => (await client.query('SELECT * FROM outbox.lag()')).rows[0];
    expect(await lag()).toEqual({ waiting_rows: '0', waiting_seconds: 0, parked_rows: '0', rejected_rows: '0' });
    await client.query(`SELECT outbox.put('k', n::text) FROM generate_series(1, 5) n`);
    await systemClock.sleep(20);
    const waiting = await lag();
    expect(waiting).toMatchObject({ waiting_rows: '5' });
    expect(waiting.waiting_seconds).toBeGreaterThan(0.01);
    await client.query("UPDATE outbox.message SET created_at = created_at + interval '1 hour'");
    // If the clock of the database was set back, rows can have a future time. The waiting time of these rows is 0, not
    // negative.
    expect(await lag()).toMatchObject({ waiting_rows: '5', waiting_seconds: 0 });
    const kinesis = fakeKinesis();
    const relay = start(new OutboxRelay(pool, producerFor(kinesis), FAST));
    await until(() => seen(kinesis).length === 5);
    await relay.stop();
    expect(await lag()).toMatchObject({ waiting_rows: '0', waiting_seconds: 0 });
  });
});
