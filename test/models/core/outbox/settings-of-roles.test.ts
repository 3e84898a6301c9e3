import { type Client, Pool } from 'pg';
import { deaggregate, OrderedProducer } from '../../../../lib/core';
import { systemClock } from '../../../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../../../lib/core/outbox';
import { FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import type { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { describeOnPostgres } from '../../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../../support/postgres/postgres-server';
import { tuned } from '../../../support/postgres/tuned';
import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';

/**
 * Tries each setting that a role can have, with one of these values: its smallest value, its largest value and another value. With
 * `RANDOM_RUNS=3`, as at night, the test tries all of them. Only a superuser can give a `superuser` setting to a role.
 */
const VALUES_OF_EACH = randomRuns(1);

/** The type of the fake requires a test clock. This test passes the system clock. */
const clock = systemClock as unknown as VirtualClock;

const AT_ONCE = 4;
const DATA = ['plain', 'a\\x41 \\ " \u00fc \u{1f600}'];
const SENT = 'sent, verified and replayed';

interface Setting {
  readonly name: string;
  readonly type: 'bool' | 'enum' | 'integer' | 'real' | 'string';
  readonly min: string | null;
  readonly max: string | null;
  readonly enumerated: string[] | null;
  readonly current: string;
}

/** The values for some text settings. For the other text settings, the test uses an empty value, the current value, and a word. */
const TEXTS: Record<string, string[]> = {
  client_encoding: ['LATIN1', 'EUC_JP', 'SQL_ASCII'],
  DateStyle: ['German', 'SQL, DMY', 'Postgres, MDY'],
  default_table_access_method: ['heap', 'heap', 'heap'],
  default_text_search_config: ['simple', 'english', 'german'],
  search_path: ['', 'outbox, public', '"$user", pg_temp, pg_catalog'],
  TimeZone: ['Asia/Kathmandu', 'America/St_Johns', '<-12>12:30'],
};

/** The expected error codes for settings with which a relay cannot send rows. */
const CAUSES: Record<string, string[]> = {
  // A missing library: the server refuses the connection or cannot call a function.
  dynamic_library_path: ['58P01', '42602'],
  local_preload_libraries: ['58P01'],
  session_preload_libraries: ['58P01'],
  // The timeout is one millisecond: on a busy machine, the server ends the connection before the relay has set its own timeout.
  idle_session_timeout: ['57P05', 'OUTBOX_CONNECTION'],
  statement_timeout: ['57014'],
  transaction_timeout: ['25P04', 'OUTBOX_CONNECTION'],
};

function valuesOf({ name, type, min, max, enumerated, current }: Setting): string[] {
  if (type === 'bool') return ['on', 'off'];
  if (type === 'enum')
    return [...new Set([enumerated![0]!, enumerated!.at(-1)!, enumerated![enumerated!.length >> 1]!])];
  if (type === 'string') return TEXTS[name] ?? ['', current, 'nonesuch'];
  const [least, most] = [Number(min), Number(max)];
  const between =
    type === 'real' ? least + Math.min(1, (most - least) / 2) : Math.floor(least + Math.min(1_000, (most - least) / 2));
  return [min!, max!, `${between}`];
}

describeOnPostgres('the settings of a role', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(() => server?.stop());

  async function settingsOf(client: Client): Promise<Setting[]> {
    // Also loads the settings of PL/pgSQL.
    await client.query('DO $$ BEGIN END $$');
    const { rows } = await client.query(
      `SELECT name, vartype AS type, min_val AS min, max_val AS max, enumvals AS enumerated, setting AS current
       FROM pg_settings WHERE context IN ('user', 'superuser') ORDER BY name`,
    );
    return rows;
  }

  /** Puts rows and relays them as a role. Returns the outcome. */
  async function outcomeOf(admin: Client, url: string): Promise<string> {
    const pool = new Pool({ connectionString: url, max: 3 });
    pool.on('error', () => {});
    const kinesis = new FakeKinesis({ clock, shardCount: 1 });
    const producer = new OrderedProducer(kinesis, { streamName: 'Events', aggregation: true });
    const seen = () =>
      kinesis
        .records()
        .flatMap((record) => deaggregate(record))
        .map(({ data }) => JSON.parse(`${Buffer.from(data)}`));
    for (const data of DATA) await admin.query("SELECT outbox.put('k', $1::text, topic => 't')", [data]);
    const abort = new AbortController();
    const relay = new OutboxRelay(
      pool,
      { t: producer },
      tuned({
        envelope: { cloudEvents: { source: '/shop' } },
        leaseMs: 20,
        saveMs: 10,
        pollMs: 20,
        rotateMs: 10,
        onReconnect: (error) => reconnects.push(error),
      }),
    );
    const reconnects: Error[] = [];
    let failure: { code?: string } | undefined;
    const running = relay.run({ signal: abort.signal }).catch((error) => {
      failure = error;
    });
    const deadlineMs = performance.now() + 5_000;
    while (seen().length < DATA.length && failure === undefined && performance.now() < deadlineMs)
      await systemClock.sleep(5);
    if (failure === undefined) {
      try {
        const { missingRows, waitingRows } = await relay.verify();
        if (missingRows + waitingRows > 0 && seen().length < DATA.length) failure = { code: 'rows wait' };
        const replayed = await relay.replay();
        if (replayed < DATA.length) failure ??= { code: `${replayed} rows were replayed` };
      } catch (error) {
        failure ??= error as { code?: string };
      }
    }
    abort.abort();
    await running;
    await producer.close();
    await pool.end().catch(() => {});
    if (failure !== undefined) return failure.code ?? String(failure);
    if (reconnects.length > 0) return `connected again: ${reconnects[0]}`;
    const sent = seen()
      .slice(0, DATA.length)
      .map(({ data, data_base64: base64 }) => data ?? Buffer.from(base64, 'base64').toString());
    return JSON.stringify(sent) === JSON.stringify(DATA) ? SENT : `other data: ${sent}`;
  }

  test(
    'run, verify and replay – with any setting of the role – send all rows, or end with an error that names the cause',
    async () => {
      const first = await server.connect();
      const settings = await settingsOf(first);
      await first.end();
      const cases = settings.flatMap((setting, number) => {
        const values = valuesOf(setting);
        const first = number % values.length;
        const tried = [...values.slice(first), ...values.slice(0, first)].slice(0, VALUES_OF_EACH);
        return tried.map((value) => ({ name: setting.name, value }));
      });
      const skipped = new Map<string, string>();
      const outcomes = new Map<string, string>();
      const queue = [...cases];
      async function work(worker: number): Promise<void> {
        const [role, database] = [`relay_${worker}`, `settings_${worker}`];
        const url = await server.createDatabase(database);
        const admin = await server.connect(url);
        await migrateOutbox(admin);
        await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
        await admin.query('SELECT outbox.grant_relay($1)', [role]);
        await admin.query("SELECT outbox.retain('1 hour')");
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const { name, value } = next;
          await admin.query(`ALTER ROLE ${role} RESET ALL`);
          const literal = `'${value.replaceAll("'", "''")}'`;
          const problem = await admin
            .query(`ALTER ROLE ${role} SET ${name} TO ${name === 'search_path' && value !== '' ? value : literal}`)
            .then(
              () => undefined,
              (error) => String(error.message),
            );
          if (problem !== undefined) skipped.set(`${name} = ${value}`, problem);
          else
            outcomes.set(
              `${name} = ${value}`,
              await outcomeOf(admin, server.urlOf(database, { user: role, password: role })),
            );
        }
        await admin.end();
      }
      await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => work(worker)));
      const unexpected = [...outcomes].filter(([each, outcome]) => {
        return outcome !== SENT && !CAUSES[each.split(' ')[0]!]?.includes(outcome);
      });
      console.log(
        `SKIPPED, because Postgres takes them from no role:\n${[...skipped].map(([each, why]) => `${each}: ${why}`).join('\n')}`,
      );
      expect(unexpected).toEqual([]);
      expect(outcomes.size).toBeGreaterThan(0.8 * cases.length);
    },
    randomRunsTimeout(300_000),
  );
});
