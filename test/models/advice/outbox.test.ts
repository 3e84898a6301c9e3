import { readFileSync } from 'node:fs';
import type { Client } from 'pg';
import { outboxMigrations } from '../../../lib/core';
import {
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  STREAM_NAME,
} from '../../../lib/core/contract/function-environment';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';
import { type LoopbackServer, putRecordsOutput, SECRET, startJsonService } from '../../support/loopback-server';
import { describeOnPostgres } from '../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../support/postgres/postgres-server';

/**
 * The name of each test starts with the heading of an alarm in docs/guides/monitoring.md. The test follows the advice below this
 * heading, with the bundled function and a real Postgres, until the alarm ends.
 */

/** The timeout of an invocation. The relay stops reading ten seconds before this timeout, so it reads for two seconds. */
const A_RUN_MS = 12_000;
/** The maximum number of invocations. One invocation is enough, unless the machine is busy. */
const MAX_RUNS = 5;

/** The SQL statements below a heading of the outbox guide. */
function statementsOf(heading: string): string[] {
  const guide = readFileSync('docs/guides/outbox.md', 'utf8');
  const [, section] = guide.split(new RegExp(`^#+ ${heading}$`, 'm')) as [string, string];
  const [, sql] = /```sql\n([^`]+)```/.exec(section)!;
  return sql!.split(';\n').filter((statement) => statement !== '');
}

describeOnPostgres('the advice on an outbox', () => {
  let postgres: PostgresServer;
  let aws: LoopbackServer;
  let database: Client;
  const relays: LambdaFunction[] = [];
  /** Keys whose records the stream rejects. */
  const refused = new Set<string>();

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    aws = await startJsonService((operation, input) =>
      operation === 'GetSecretValue' ? SECRET : putRecordsOutput(input, (partitionKey) => refused.has(partitionKey)),
    );
  }, 90_000);

  beforeEach(async () => {
    refused.clear();
    const name = `advice_${relays.length}_${process.pid}`;
    database = await postgres.connect(await postgres.createDatabase(name));
    for (const { sql } of outboxMigrations) await database.query(sql);
  });

  afterEach(() => database.end());
  afterAll(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
    aws.stop();
    await postgres.stop();
  });

  async function startRelay(environment: Record<string, string> = {}): Promise<LambdaFunction> {
    const { host, port, database: name } = database;
    const relay = await LambdaFunction.start({
      name: 'outbox-relay',
      endpoint: aws.endpoint,
      environment: {
        [DATABASE_HOST]: host,
        [DATABASE_PORT]: String(port),
        [DATABASE_NAME]: name!,
        [DATABASE_SECRET_ARN]: 'secret',
        [STREAM_NAME]: 'events',
        ...environment,
      },
    });
    relays.push(relay);
    return relay;
  }

  /** Invokes a relay again and again, as its schedule does, until no row waits and no row is parked. */
  async function relayAll(relay: LambdaFunction): Promise<Invocation> {
    for (let runs = 1; ; runs++) {
      const run = await relay.invoke({}, A_RUN_MS);
      if (runs === MAX_RUNS || (await waitingRows()) === 0) return run;
    }
  }

  const put = (partitionKey: string, data: string) =>
    database.query('SELECT outbox.put($1, $2::text)', [partitionKey, data]);

  async function rowsOf(table: 'parked' | 'rejected') {
    const { rows } = await database.query(`SELECT partition_key, last_error FROM outbox.${table} ORDER BY id`);
    return rows;
  }

  async function waitingRows(): Promise<number> {
    const { rows } = await database.query('SELECT waiting_rows FROM outbox.lag()');
    return Number(rows[0].waiting_rows);
  }

  /** The sum of a metric in the log of an invocation, or undefined if the log does not contain the metric. */
  function metricIn({ log }: Invocation, name: string): number | undefined {
    const lines = log.split('\n').flatMap((line) => (line.includes('"_aws"') ? [JSON.parse(line)] : []));
    const values = lines.flatMap((line) => (name in line ? [line[name]] : []));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  test('Failures of an outbox relay: the log and the table `parked` name the key and the cause, and the next try sends the rows', async () => {
    const failures = new AlarmInPlay('RelayFailures');
    const minute = (run: Invocation) => failures.minute({ Rejections: metricIn(run, 'Rejections'), Errors: 0 });
    const relay = await startRelay();
    refused.add('a');
    await put('a', '1');
    await put('a', '2');
    await put('b', '3');
    const failed = await relay.invoke({}, A_RUN_MS);
    expect(failed.error).toBeUndefined();
    const lines = failed.log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const rejected = lines.map(({ message }) => message).filter((entry) => entry?.message === 'row rejected');
    expect(rejected[0]).toMatchObject({ id: '1', tries: 1, isGivenUp: false });
    expect(rejected[0].cause).toContain('KMSAccessDeniedException');
    expect(minute(failed)).toBe(true);

    const [first, second] = await rowsOf('parked');
    expect(first).toEqual({ partition_key: 'a', last_error: expect.stringContaining('KMSAccessDeniedException') });
    expect(second).toMatchObject({ partition_key: 'a' });

    refused.clear();
    const mended = await relayAll(relay);
    expect(await rowsOf('parked')).toEqual([]);
    expect(await waitingRows()).toBe(0);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(failures.isRaised).toBe(false);
  }, 120_000);

  test('Rows of an outbox wait: the log of the function has the error of Postgres, and the next invocation sends the rows', async () => {
    const lag = new AlarmInPlay('RelayLag');
    const minute = (run: Invocation) => lag.minute({ WaitingSeconds: metricIn(run, 'WaitingSeconds') });
    await put('a', '1');
    const broken = await startRelay({ [DATABASE_NAME]: 'gone' });
    const failed = await broken.invoke({}, A_RUN_MS);
    expect(failed.error).toBeDefined();
    expect(failed.log).toContain('3D000');
    // The relay has run once. Before its first run, a relay raises no alarm.
    lag.minute({ WaitingSeconds: 0 });
    for (let minutes = 0; minutes < 10; minutes++) minute(failed);
    expect(lag.isRaised).toBe(true);

    const relay = await startRelay();
    const mended = await relayAll(relay);
    expect(metricIn(mended, 'RelayedRows')).toBe(1);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(lag.isRaised).toBe(false);
  }, 120_000);

  test('Rows of an outbox are missing: the log and the table `missing` name the rows, and the statements of the guide send them', async () => {
    const missing = new AlarmInPlay('RelayMissingRows');
    const minute = (run: Invocation) => missing.minute({ MissingRows: metricIn(run, 'MissingRows') && 1 });
    await put('a', 'passed');
    // Sets a position behind a row that was never sent, so that this row is missing.
    await database.query('UPDATE outbox.range SET batch_from = pg_current_snapshot()');
    const relay = await startRelay();
    const found = await relay.invoke({}, A_RUN_MS);
    expect(found.error).toBeUndefined();
    expect(minute(found)).toBe(true);
    expect(found.log).toContain('rows are missing');
    const { rows } = await database.query('SELECT id FROM outbox.missing');
    expect(rows).toEqual([{ id: '1' }]);

    for (const statement of statementsOf('Verifying')) {
      await database.query(statement.replaceAll('17', rows[0].id));
    }
    const mended = await relayAll(relay);
    expect(metricIn(mended, 'RelayedRows')).toBe(1);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(missing.isRaised).toBe(false);
  }, 120_000);

  test('An outbox relay refuses to run: the log has the error code, and the relay sends the rows when the cause is gone', async () => {
    const refusals = new AlarmInPlay('RelayRefusals');
    const minute = (run: Invocation) => refusals.minute({ Refusals: metricIn(run, 'Refusals') });
    await put('a', 'waits');
    await database.query('ALTER SCHEMA outbox RENAME TO elsewhere');
    const relay = await startRelay();
    const refused = await relay.invoke({}, A_RUN_MS);
    expect(refused.error).toMatchObject({ code: 'OUTBOX_SCHEMA' });
    expect(minute(refused)).toBe(true);

    await database.query('ALTER SCHEMA elsewhere RENAME TO outbox');
    const mended = await relayAll(relay);
    expect(metricIn(mended, 'Refusals')).toBe(0);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(refusals.isRaised).toBe(false);
  }, 120_000);
});
