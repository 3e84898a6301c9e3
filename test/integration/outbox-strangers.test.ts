import type { Client, Pool } from 'pg';
import { systemClock } from '../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay, outboxMigrationsOf } from '../../lib/core/outbox';
import type { FakeKinesis } from '../../lib/testing/fake-kinesis';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';
import { FAST, producerFor, RunningRelays, realTimeKinesis } from '../support/postgres/relays';
import { setTraps } from '../support/postgres/traps';
import { tuned } from '../support/postgres/tuned';

const EVENT = '{"a":1}';

/** Statements of a writer, with each way to put an event. */
const PUTS = [
  ...["'k'", 'pg_catalog.gen_random_uuid()', '7::bigint', "'v'::varchar"].flatMap((key) =>
    ['text', 'json', 'jsonb', 'bytea'].map((type) => `SELECT outbox.put(${key}, '${EVENT}'::${type})`),
  ),
  ...['json', 'jsonb', 'text'].map(
    (type) => `SELECT outbox.put('k', 'x', 1, 'type', '{"traceparent":"${'0'.repeat(55)}"}'::${type}, 'even')`,
  ),
  ...['text', 'json', 'jsonb', 'bytea'].map(
    (type) => `SELECT outbox.put_all(ARRAY['k', 'l'], ARRAY['${EVENT}', '2']::${type}[])`,
  ),
  `SELECT outbox.put_all('{a}', '{"{}"}', '{1}', '{t}', '{"{}"}', '{even}')`,
  "SELECT outbox.put_all(ARRAY[pg_catalog.gen_random_uuid()], ARRAY['x'])",
  "SELECT outbox.lock('{a,b}')",
  'SELECT outbox.lock(ARRAY[1, 2])',
  `SELECT outbox.put(pg_catalog.repeat('😀', 128), pg_catalog.repeat('x', 9000), topic => 'odd')`,
  `INSERT INTO outbox.message (partition_key, data, headers, topic) VALUES ('k', '${EVENT}', '{"a":"b"}', 'even')`,
  `INSERT INTO outbox.message (partition_key, bytes, topic) VALUES ('k', '\\xff', 'odd')`,
];

/** Statements of the owner of an outbox. */
const OWNER_CALLS = [
  "SELECT outbox.grant_put('outbox_writer')",
  "SELECT outbox.grant_relay('outbox_relay')",
  "SELECT outbox.grant_put('outbox_relay')",
  'SELECT outbox.accept_records_of(1048576)',
  'SELECT outbox.notify(true)',
  "SELECT outbox.retain('0')",
  'SELECT outbox.divide(2)',
  'SELECT * FROM outbox.lag()',
  'SELECT * FROM outbox.verify()',
  'SELECT outbox.rotate()',
  'SELECT * FROM outbox.sent',
  'SELECT outbox.restored()',
];

describeOnPostgres('an outbox in a database with hostile roles', () => {
  let server: PostgresServer;
  const connections: Client[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
    const admin = await server.connect();
    for (const role of ['owner', 'relay', 'writer', 'stranger'])
      await admin.query(`CREATE ROLE outbox_${role} LOGIN PASSWORD '${role}'`);
    await admin.end();
  }, 60_000);
  afterEach(() => Promise.all(connections.splice(0).map((connection) => connection.end())));
  afterAll(() => server?.stop());

  async function connect(database: string, role: string): Promise<Client> {
    const connection = await server.connect(urlOf(database, role));
    connections.push(connection);
    return connection;
  }

  /** Creates a database in which every role may create functions in `public`, as by default in PostgreSQL 14. */
  async function createDatabase(name: string, settings: string[] = []): Promise<void> {
    const admin = await server.connect(await server.createDatabase(name));
    await admin.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await admin.query(`GRANT CREATE ON DATABASE ${name} TO outbox_owner`);
    for (const setting of settings) await admin.query(`ALTER DATABASE ${name} SET ${setting}`);
    await admin.end();
  }

  const urlOf = (database: string, role: string): string =>
    server.urlOf(database, role === 'postgres' ? {} : { user: `outbox_${role}`, password: role });

  /** Uses an outbox with every role, from the migration to the replay. Returns the statements of the relay and the migrations. */
  async function useOutbox(database: string, migratingRole = 'owner'): Promise<string[]> {
    const statements: string[] = [];
    const recorded = (connection: Client): Client => {
      const { query } = connection;
      connection.query = ((...given: unknown[]) => {
        statements.push(typeof given[0] === 'string' ? given[0] : (given[0] as { text: string }).text);
        return (query as (...all: unknown[]) => unknown).apply(connection, given);
      }) as never;
      return connection;
    };
    const owner = await connect(database, migratingRole);
    const writer = await connect(database, 'writer');
    await migrateOutbox(recorded(owner));
    for (const call of OWNER_CALLS) await owner.query(call);
    for (const put of PUTS) await writer.query(put);
    const pool = server.pool(urlOf(database, 'relay'), 4);
    pool.on('connect', (connection) => recorded(connection as Client));
    await relayAll(pool);
    for (const call of OWNER_CALLS.filter((each) => !each.includes('grant'))) await owner.query(call);
    return statements;
  }

  /**
   * Relays all rows to two topics. The stream of one topic rejects rows. Then runs `verify`, and both kinds of
   * `replay`.
   */
  async function relayAll(pool: Pool): Promise<void> {
    const rejecting = realTimeKinesis({ entryFate: () => 'refused' });
    const producer = (stream: FakeKinesis) => producerFor(stream, { backoffBaseMs: 1, maxAttempts: 1 });
    const relay = new OutboxRelay(
      pool,
      { even: producer(realTimeKinesis()), odd: producer(rejecting) },
      tuned({ ...FAST, rotateMs: 100, maxTries: 2, envelope: { cloudEvents: { source: '/s' } } }),
    );
    const running = new RunningRelays().start(relay);
    for (let looks = 0; looks < 300; looks++) {
      const { waitingRows } = await relay.verify();
      if (waitingRows === 0 && relay.summary().givenUp > 0) break;
      await systemClock.sleep(20);
    }
    expect(await running.stop()).toMatchObject({
      relayed: expect.any(Number),
      givenUp: expect.any(Number),
      reconnects: 0,
    });
    expect(await relay.verify()).toMatchObject({ missingRows: 0, waitingRows: 0 });
    await relay.replay({ partitionKey: 'no such key' });
    await relay.replay({ as: 'new', partitionKey: 'no such key' });
  }

  test('with every role, calls only functions, operators and aggregates of the outbox or of Postgres', async () => {
    await createDatabase('honest');
    const statements = await useOutbox('honest');
    // Of all search paths, this path helps an attacker most.
    const path = 'public, pg_catalog';
    for (const role of ['owner', 'postgres']) {
      const database = `trapped_${role}`;
      await createDatabase(database, [`search_path = ${path}`]);
      const stranger = await connect(database, 'stranger');
      const traps = await setTraps(stranger, [...statements, ...outboxMigrationsOf('outbox').map(({ sql }) => sql)]);
      expect(await traps.control(path)).toEqual(['an aggregate', 'a function', 'an operator']);
      await useOutbox(database, role);
      expect(await traps.sprung()).toEqual([]);
    }
  }, 60_000);

  test('sets the search path of each function that Postgres parses at run time, and references no other schema', async () => {
    await createDatabase('described');
    const owner = await connect('described', 'owner');
    await migrateOutbox(owner);
    const { rows: functions } = await owner.query(
      `SELECT oid::regprocedure AS name FROM pg_proc
       WHERE pronamespace = 'outbox'::regnamespace AND prosqlbody IS NULL
         AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)`,
    );
    expect(functions).toEqual([]);
    // Finds the references of views, defaults and indexes, and of functions whose body Postgres parsed when it created
    // the function.
    const { rows: foreign } = await owner.query(
      `SELECT DISTINCT pg_describe_object(refclassid, refobjid, refobjsubid) AS name
       FROM (SELECT * FROM pg_depend WHERE classid <> 0 OFFSET 0) d, LATERAL pg_identify_object(classid, objid, 0) o, LATERAL pg_identify_object(refclassid, refobjid, 0) r
       WHERE (o.schema = 'outbox' OR o.identity LIKE 'outbox.%' OR o.identity LIKE '% outbox.%')
         AND coalesce(r.schema, 'pg_catalog') NOT IN ('outbox', 'pg_catalog')`,
    );
    expect(foreign).toEqual([]);
    expect(
      (
        await owner.query(
          "SELECT count(*)::int AS bodies FROM pg_proc WHERE pronamespace = 'outbox'::regnamespace AND prosqlbody IS NOT NULL",
        )
      ).rows,
    ).not.toEqual([{ bodies: 0 }]);
  });

  test('if the caller owns the type of a key, runs the cast of this type with the privileges of the caller', async () => {
    await createDatabase('casts');
    const owner = await connect('casts', 'owner');
    await migrateOutbox(owner);
    await owner.query("SELECT outbox.grant_put('outbox_writer')");
    const writer = await connect('casts', 'writer');
    await writer.query(`
      CREATE TYPE public.disguise AS (name text);
      CREATE FUNCTION public.who(public.disguise) RETURNS text LANGUAGE sql AS 'SELECT current_user::text';
      CREATE CAST (public.disguise AS text) WITH FUNCTION public.who(public.disguise)`);
    await writer.query("SELECT outbox.put(ROW('x')::public.disguise, 'x')");
    await writer.query("SELECT outbox.put_all(ARRAY[ROW('x')::public.disguise], ARRAY['x'])");
    await writer.query("SELECT outbox.lock(ARRAY[ROW('x')::public.disguise])");
    const { rows } = await owner.query('SELECT DISTINCT partition_key FROM outbox.message');
    expect(rows).toEqual([{ partition_key: 'outbox_writer' }]);
  });

  test('if another role has created a type with the name of a Postgres type, uses the type of Postgres', async () => {
    await createDatabase('typed', ['search_path = public, pg_catalog']);
    const stranger = await connect('typed', 'stranger');
    await stranger.query(`
      CREATE FUNCTION public.evil(value pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'sprung by %', current_user; END $$;
      CREATE DOMAIN public.text AS pg_catalog.text CHECK (public.evil(VALUE))`);
    const owner = await connect('typed', 'owner');
    await owner.query(outboxMigrationsOf('outbox')[0]!.sql);
    expect(await migrateOutbox(owner)).toEqual([]);
  });

  test('is not migrated in a schema that another role owns', async () => {
    await createDatabase('taken');
    const admin = await connect('taken', 'postgres');
    await admin.query(`CREATE SCHEMA outbox AUTHORIZATION outbox_stranger;
      CREATE TABLE outbox.settings (version integer); INSERT INTO outbox.settings VALUES (3);
      ALTER TABLE outbox.settings OWNER TO outbox_stranger`);
    for (const connection of [admin, await connect('taken', 'owner')]) {
      await expect(migrateOutbox(connection)).rejects.toMatchObject({ code: 'OUTBOX_OWNER', owner: 'outbox_stranger' });
    }
  });
});
