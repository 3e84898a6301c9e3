import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import {
  AGGREGATION,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  STREAM_NAME,
} from '../../../lib/core/contract/function-environment';
import { migrateOutbox } from '../../../lib/core/outbox';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';
import { putRecordsOutput, SECRET, startJsonService } from '../../support/loopback-server';
import { describeOnPostgres } from '../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../support/postgres/postgres-server';

/** The bundled relay function with services that do not respond. An invocation ends before its timeout. */

/** The timeout of an invocation. The function relays for two seconds, and then has ten seconds to end. */
const TIME_MS = 12_000;
const LONG_TIME_MS = 60_000;
/** The database responds again after this time. The time is longer than the timeout of a connection attempt. */
const RESUMES_AFTER_MS = 11_000;
const ROWS = 3;

interface Scenario {
  /** A table that another session has locked. */
  readonly locked?: string;
  /** Whether another worker holds the only range of keys. */
  readonly isHeld?: boolean;
  /** A service that accepts connections and sends nothing. */
  readonly silent?: 'Postgres' | 'Kinesis' | 'Secrets Manager';
  /** Postgres sends nothing for a while, and then accepts new connections. */
  readonly resumes?: boolean;
}

interface Outcome {
  readonly invocation: Invocation;
  readonly rowsLeft: number;
  readonly relayedLater: number;
}

const SCENARIOS: Record<string, Scenario> = {
  'a table that only the report reads is locked': { locked: 'rejected' },
  'the rows are locked': { locked: 'message' },
  'another worker holds all keys': { isHeld: true },
  'Postgres does not respond': { silent: 'Postgres' },
  'Kinesis does not respond': { silent: 'Kinesis' },
  'Secrets Manager does not respond': { silent: 'Secrets Manager' },
};

describeOnPostgres('an invocation of the relay function', () => {
  const outcomes: Record<string, Outcome> = {};
  let resumed: Promise<Outcome>;

  beforeAll(async () => {
    const server = await PostgresServer.start();
    resumed = play(server, 'relay_resumes', { resumes: true });
    const played = Object.entries(SCENARIOS).map(async ([name, scenario], index) => {
      outcomes[name] = await play(server, `relay_${index}`, scenario);
    });
    try {
      await Promise.all([...played, resumed]);
    } finally {
      await server.stop();
    }
  }, 90_000);

  test.each(Object.keys(SCENARIOS))('ends before its timeout if %s', (name) => {
    expect(outcomes[name]!.invocation.leftMs).toBeGreaterThan(0);
  });

  test('reports the relayed rows, but not the lag, if the lag cannot be read', () => {
    const { invocation } = outcomes['a table that only the report reads is locked']!;
    expect(JSON.parse(invocation.response!)).toMatchObject({ relayed: ROWS });
    expect(invocation.log).toContain('could not read the number of waiting rows');
    expect(invocation.log).toContain('"RelayedRows":3');
    expect(invocation.log).not.toContain('WaitingRows":');
  });

  test('ends early if another worker holds the range of all keys', () => {
    expect(outcomes['another worker holds all keys']!.invocation.leftMs).toBeGreaterThan(LONG_TIME_MS / 2);
  });

  test('connects again when a paused database resumes, and relays the rows', async () => {
    const { invocation, rowsLeft, relayedLater } = await resumed;
    expect(JSON.parse(invocation.response!)).toMatchObject({ relayed: ROWS });
    expect(invocation.log).toContain('no connection yet');
    expect(invocation.leftMs).toBeGreaterThan(0);
    expect([rowsLeft, relayedLater]).toEqual([0, 0]);
  });

  test.each([
    ['Postgres does not respond', { code: 'OUTBOX_CONNECTION' }],
    ['Secrets Manager does not respond', { code: 'DATABASE_SECRET' }],
  ])('fails with an error code if %s', (name, error) => {
    expect(outcomes[name]!.invocation.error).toMatchObject(error);
  });

  test.each(Object.keys(SCENARIOS).slice(1))('loses no row if %s', (name) => {
    expect(outcomes[name]).toMatchObject({ rowsLeft: ROWS, relayedLater: ROWS });
  });
});

async function play(
  server: PostgresServer,
  database: string,
  { locked, isHeld, silent, resumes }: Scenario,
): Promise<Outcome> {
  const url = await server.createDatabase(database);
  const [admin, other] = [await server.connect(url), await server.connect(url)];
  await migrateOutbox(admin);
  for (let row = 0; row < ROWS; row++) await admin.query("SELECT outbox.put('a', 'x')");
  const services = await startJsonService((operation, input) =>
    operation === 'GetSecretValue' ? SECRET : putRecordsOutput(input),
  );
  const { port: serverPort } = new URL(url);
  const silence = await startSilence(resumes ? Number(serverPort) : undefined);
  const start = (silently: Scenario['silent']) =>
    LambdaFunction.start({
      name: 'outbox-relay',
      endpoint: services.endpoint,
      environment: {
        [STREAM_NAME]: 'events',
        [AGGREGATION]: 'true',
        [DATABASE_HOST]: '127.0.0.1',
        [DATABASE_PORT]: silently === 'Postgres' ? String(silence.port) : serverPort,
        [DATABASE_NAME]: database,
        [DATABASE_SECRET_ARN]: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:relay',
        ...(silently === 'Kinesis' && { AWS_ENDPOINT_URL_KINESIS: `http://127.0.0.1:${silence.port}` }),
        ...(silently === 'Secrets Manager' && {
          AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${silence.port}`,
        }),
      },
    });
  try {
    const hindered = await start(resumes ? 'Postgres' : silent);
    if (locked !== undefined) await other.query(`BEGIN; LOCK TABLE outbox.${locked} IN ACCESS EXCLUSIVE MODE`);
    if (isHeld) await other.query("SELECT pg_advisory_lock(hashtext('outbox'), lock) FROM outbox.range");
    const invocation = await hindered.invoke({}, isHeld ? LONG_TIME_MS : TIME_MS + (resumes ? RESUMES_AFTER_MS : 0));
    await other.query('ROLLBACK; SELECT pg_advisory_unlock_all()');
    await hindered.stop();
    const { rows } = await admin.query('SELECT waiting_rows::int AS left FROM outbox.lag()');
    const free = await start(undefined);
    const { response = '{}' } = await free.invoke({}, TIME_MS);
    await free.stop();
    return { invocation, rowsLeft: rows[0].left as number, relayedLater: JSON.parse(response).relayed as number };
  } finally {
    services.stop();
    silence.stop();
    await Promise.all([admin.end(), other.end()]);
  }
}

/**
 * Starts a server that accepts connections and sends nothing. With `serverPort`, it later forwards new connections to the server at
 * this port.
 */
async function startSilence(serverPort?: number) {
  const sockets = new Set<{ destroy(): unknown }>();
  const begunAtMs = performance.now();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (serverPort === undefined || performance.now() < begunAtMs + RESUMES_AFTER_MS) return;
    const upstream = connect(serverPort, '127.0.0.1').on('error', () => socket.destroy());
    sockets.add(upstream);
    socket.pipe(upstream).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, stop };
}
