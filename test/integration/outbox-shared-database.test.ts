import type { Client, Pool } from 'pg';
import { systemClock } from '../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay, type PostgresClient, type PostgresPool } from '../../lib/core/outbox';
import type { TunedRelayOptions } from '../../lib/core/outbox/relay-options';
import { describeWhere } from '../support/describe-where';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { hasPgBouncer, PgBouncer } from '../support/postgres/pg-bouncer';
import { type PoolerRules, PoolerStandIn, RDS_PROXY } from '../support/postgres/pooler-stand-in';
import { PostgresServer } from '../support/postgres/postgres-server';
import { producerFor, FAST as QUICK, RunningRelays, realTimeKinesis, textsIn } from '../support/postgres/relays';

/** Tests an outbox behind poolers, as roles with their own settings, and with row-level security. */

const { onReconnect: _, ...EAGER } = QUICK;
const FAST: TunedRelayOptions = { ...EAGER, rotateMs: 50 };
const LOCKS =
  "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

describeOnPostgres('an outbox behind poolers, with settings of roles and with row-level security', () => {
  let server: PostgresServer;
  let url: string;
  let client: Client;
  let databases = 0;
  const opened: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start();
    const admin = await server.connect();
    await admin.query("CREATE ROLE relay LOGIN PASSWORD 'relay'");
    await admin.end();
  }, 60_000);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    databases += 1;
    url = await server.createDatabase(`shared_${databases}`);
    client = await server.connect(url);
    await migrateOutbox(client);
    await client.query("SELECT outbox.grant_relay('relay')");
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.stop()));
    await client.query('ALTER ROLE relay RESET ALL');
    await client.end();
  });

  const roleUrl = () => server.urlOf(`shared_${databases}`, { user: 'relay', password: 'relay' });

  async function open<T extends { stop(): Promise<void> }>(opening: Promise<T>): Promise<T> {
    const each = await opening;
    opened.push(each);
    return each;
  }

  async function put(...data: string[]): Promise<void> {
    for (const each of data) await client.query("SELECT outbox.put('k', $1::text)", [each]);
  }

  /** Runs a relay until the rows have arrived, for at most ten seconds. Returns the data that has arrived. */
  async function relayed(
    postgres: PostgresPool | PostgresClient,
    rows: number,
    { meanwhile, ...options }: TunedRelayOptions & { meanwhile?: (relay: OutboxRelay) => Promise<unknown> } = {},
  ): Promise<string[]> {
    const kinesis = realTimeKinesis();
    const relay = new OutboxRelay(postgres, producerFor(kinesis), { ...FAST, ...options });
    const { ended, stop } = new RunningRelays().start(relay);
    let hasEnded = false;
    const noteEnd = () => {
      hasEnded = true;
    };
    ended.then(noteEnd, noteEnd);
    for (let waits = 0; waits < 500 && textsIn(kinesis).length < rows && !hasEnded; waits++)
      await systemClock.sleep(20);
    try {
      await meanwhile?.(relay);
    } finally {
      await stop();
    }
    return textsIn(kinesis);
  }

  /** Compares the settings of the sessions with their settings before the test, and counts the remaining locks. */
  async function leftovers(before: unknown[], now: Promise<unknown[]>): Promise<unknown> {
    const isSame = JSON.stringify(await now) === JSON.stringify(before);
    return [isSame ? 'the same settings' : 'other settings', (await client.query(LOCKS)).rowCount];
  }

  const NOTHING = ['the same settings', 0];

  describe('a pooler in transaction mode', () => {
    test.each<PoolerRules['takes']>(['the last', 'any'])(
      'run – with a pool, if a transaction gets %s free process – is rejected, and leaves no setting and no lock',
      async (takes) => {
        await put('one');
        const pooler = await open(PoolerStandIn.start(url, { takes }));
        const before = await pooler.settings();
        await expect(relayed(pooler, 1)).rejects.toMatchObject({ code: 'OUTBOX_POOLER' });
        expect(await leftovers(before, pooler.settings())).toEqual(NOTHING);
      },
    );

    test('run – with a client – is rejected, and leaves no setting and no lock', async () => {
      const pooler = await open(PoolerStandIn.start(url, { takes: 'the first' }));
      const before = await pooler.settings();
      await expect(relayed(await pooler.connect(), 1)).rejects.toMatchObject({ code: 'OUTBOX_POOLER' });
      expect(await leftovers(before, pooler.settings())).toEqual(NOTHING);
    });

    test('run – with a client whose server process changes later – ends with an error', async () => {
      // Without this call, the relay would notice a missing notification before it notices the new server process.
      await client.query('SELECT outbox.notify(false)');
      const pooler = await open(PoolerStandIn.start(url, { takes: 'the last' }));
      const own = await pooler.connect();
      // This client takes the server process of the relay, unless the relay runs a statement at that moment.
      const busy = async () => {
        const other = await pooler.connect();
        for (let transactions = 0; transactions < 20; transactions++) {
          await other.query({ text: 'BEGIN' });
          await systemClock.sleep(30);
          await other.query({ text: 'COMMIT' });
          await systemClock.sleep(7);
        }
      };
      await put('one');
      // The relay can also fail with the Postgres error code 26000, because the other server process does not have its
      // prepared statements.
      const code = expect.stringMatching(/^(OUTBOX_POOLER|26000)$/);
      await expect(relayed(own, 1, { meanwhile: busy })).rejects.toMatchObject({ code });
    });

    test('verify and replay use one transaction each, and leave no setting and no lock', async () => {
      await client.query("SELECT outbox.retain('1 hour')");
      await put('one', 'two');
      await relayed(server.pool(url), 2);
      const pooler = await open(PoolerStandIn.start(url, { takes: 'the last' }));
      const before = await pooler.settings();
      const relay = new OutboxRelay(pooler, producerFor(realTimeKinesis()), FAST);
      expect(await relay.verify()).toMatchObject({ waitingRows: 0, missingRows: 0 });
      expect(await relay.replay()).toBe(2);
      expect(await leftovers(before, pooler.settings())).toEqual(NOTHING);
    });
  });

  test('run – behind a proxy that pins connections, as RDS Proxy does – relays', async () => {
    await put('one', 'two', 'three');
    const proxy = await open(PoolerStandIn.start(url, RDS_PROXY));
    expect(await relayed(proxy, 3, { meanwhile: (relay) => relay.verify() })).toEqual(['one', 'two', 'three']);
  });

  test.each([
    ['SET', /^SET/],
    ['SET', /set_config/],
    ['LISTEN', /^LISTEN/],
  ])(
    'run – behind a pinning proxy that rejects %s (%p) – is rejected, and leaves no setting and no lock',
    async (what, rejects) => {
      const proxy = await open(PoolerStandIn.start(url, { ...RDS_PROXY, rejects }));
      const before = await proxy.settings();
      const message = expect.stringContaining(`${what} was rejected: unsupported statement`);
      await expect(relayed(proxy, 1)).rejects.toMatchObject({ code: 'OUTBOX_POOLER', message });
      expect(await leftovers(before, proxy.settings())).toEqual(NOTHING);
    },
  );

  test('run – with a client – restores the settings of the client, after the end and after an error', async () => {
    const own = await server.connect(url);
    await own.query("SET DateStyle = 'German'; SET statement_timeout = '7s'; SET search_path = 'outbox, public'");
    const settings = async () => [
      (await own.query("SELECT name, setting FROM pg_settings WHERE name NOT LIKE '%.%' ORDER BY name")).rows,
    ];
    const before = await settings();
    await put('one');
    expect(await relayed(own, 1)).toEqual(['one']);
    expect(await leftovers(before, settings())).toEqual(NOTHING);
    await client.query('ALTER TABLE outbox.range RENAME TO gone');
    await expect(relayed(own, 1)).rejects.toMatchObject({ code: expect.any(String) });
    await client.query('ALTER TABLE outbox.gone RENAME TO range');
    expect(await leftovers(before, settings())).toEqual(NOTHING);
    await own.query('BEGIN');
    await expect(relayed(own, 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'postgres' });
    await own.end();
  });

  test('run – on a connection after DISCARD ALL – relays', async () => {
    const own = await server.connect(url);
    await put('one');
    expect(await relayed(own, 1)).toEqual(['one']);
    await own.query('DISCARD ALL');
    await put('two');
    expect(await relayed(own, 1)).toEqual(['two']);
    await own.end();
  });

  describeWhere(hasPgBouncer, 'the program pgbouncer')('a real PgBouncer', () => {
    test.each(['transaction', 'statement'] as const)(
      'run – in %s mode – is rejected, and leaves no setting and no lock',
      async (mode) => {
        const bouncer = await open(PgBouncer.start(url, mode));
        const application = server.pool(bouncer.url, 3);
        // Runs three queries in parallel, to reach all sessions that the pooler has opened for the application.
        const settings = async () => {
          const text =
            "SELECT string_agg(name || setting, ',' ORDER BY name) FROM pg_settings, pg_sleep(0.2) WHERE context = 'user'";
          return (await Promise.all([1, 2, 3].map(() => application.query(text)))).map(({ rows }) => rows);
        };
        const before = await settings();
        await expect(relayed(server.pool(bouncer.url, 2), 1)).rejects.toMatchObject({ code: 'OUTBOX_POOLER' });
        expect(await leftovers(before, settings())).toEqual(NOTHING);
      },
    );

    test('run – in session mode – relays, and leaves no lock', async () => {
      await put('one', 'two');
      const bouncer = await open(PgBouncer.start(url, 'session'));
      const pool: Pool = server.pool(bouncer.url, 2);
      expect(await relayed(pool, 2, { meanwhile: (relay) => relay.verify() })).toEqual(['one', 'two']);
      expect((await client.query(LOCKS)).rowCount).toBe(0);
    });

    test('run – in session mode, if the pooler has no second session – relays', async () => {
      await put('one');
      const bouncer = await open(PgBouncer.start(url, 'session', 1));
      expect(await relayed(server.pool(bouncer.url, 2), 1)).toEqual(['one']);
    });
  });

  describe('row-level security', () => {
    test('run, verify and replay – an event trigger has enabled row-level security for each table – fail with the cause', async () => {
      await client.query('DROP SCHEMA outbox CASCADE');
      await client.query(`
        CREATE FUNCTION secure() RETURNS event_trigger LANGUAGE plpgsql AS $$
        DECLARE made record;
        BEGIN
          FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_type = 'table' LOOP
            EXECUTE 'ALTER TABLE ' || made.object_identity || ' ENABLE ROW LEVEL SECURITY';
          END LOOP;
        END $$;
        CREATE EVENT TRIGGER secure ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION secure()`);
      await migrateOutbox(client);
      await client.query("SELECT outbox.grant_relay('relay')");
      await put('one');
      const pool = server.pool(roleUrl(), 3);
      await expect(relayed(pool, 1)).rejects.toMatchObject({
        code: 'OUTBOX_ROW_SECURITY',
        role: 'relay',
        tables: expect.arrayContaining(['outbox.range', 'outbox.settings']),
      });
      const relay = new OutboxRelay(pool, producerFor(realTimeKinesis()));
      await expect(relay.replay()).rejects.toMatchObject({ code: 'OUTBOX_ROW_SECURITY' });
      await expect(relay.verify()).rejects.toThrow(/row-level security/);
    });

    test('run – row-level security is enabled while the relay runs – fails with the cause, and skips no row', async () => {
      const pool = server.pool(roleUrl(), 3);
      await put('one');
      const meanwhile = async () => {
        await client.query('ALTER TABLE outbox.message ENABLE ROW LEVEL SECURITY');
        const { rows } = await client.query(
          "SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = 'outbox.message'::regclass",
        );
        for (const { name } of rows) await client.query(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY`);
        await put('two');
        await systemClock.sleep(500);
      };
      await expect(relayed(pool, 1, { meanwhile })).rejects.toThrow(/row-level security/);
      await client.query('ALTER TABLE outbox.message DISABLE ROW LEVEL SECURITY');
      const { rows } = await client.query(
        "SELECT inhrelid::regclass AS name FROM pg_inherits WHERE inhparent = 'outbox.message'::regclass",
      );
      for (const { name } of rows) await client.query(`ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`);
      expect(await relayed(pool, 1)).toContain('two');
    });
  });
});
