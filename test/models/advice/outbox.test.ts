import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Client } from 'pg';
import { outboxMigrations } from '../../../lib/core';
import {
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  MAX_TRIES,
  STREAM_NAME,
} from '../../../lib/core/contract/function-environment';
import { adviceOf } from '../../support/alarms/advice-of';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { type Invocation, LambdaFunction } from '../../support/lambda-function';
import { describeOnPostgres } from '../../support/postgres/describe-on-postgres';
import { PostgresServer } from '../../support/postgres/postgres-server';

/** What the guide says of an outbox whose rows wait or are rejected, tried on the deployed bundle and a real Postgres. */

/** Of which the last ten seconds are for what is in flight. */
const A_RUN_MS = 14_000;
/** Of which one is enough, unless the machine is busy. */
const MAX_RUNS = 5;

/** The statements of SQL below a heading of the guide to the outbox. */
function statementsOf(heading: string): string[] {
  const guide = readFileSync('docs/guides/outbox.md', 'utf8');
  const [, section] = guide.split(new RegExp(`^#+ ${heading}$`, 'm')) as [string, string];
  const [, sql] = /```sql\n([^`]+)```/.exec(section)!;
  return sql!.split(';\n').filter((statement) => statement !== '');
}

describeOnPostgres('the advice on an outbox', () => {
  let postgres: PostgresServer;
  let aws: Server;
  let endpoint: string;
  let database: Client;
  const relays: LambdaFunction[] = [];
  /** Keys whose records the stream refuses. */
  const refused = new Set<string>();
  /** What the whole stream refuses records with. */
  let throttle: string | undefined;

  beforeAll(async () => {
    postgres = await PostgresServer.start();
    aws = createServer(async (request, response) => {
      const input = JSON.parse(await text(request));
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      response.end(JSON.stringify(answerTo(String(request.headers['x-amz-target']), input)));
    }).listen(0, '127.0.0.1');
    await once(aws, 'listening');
    endpoint = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  }, 90_000);

  beforeEach(async () => {
    refused.clear();
    throttle = undefined;
    const name = `advice_${relays.length}_${process.pid}`;
    database = await postgres.connect(await postgres.createDatabase(name));
    for (const { sql } of outboxMigrations) await database.query(sql);
  });

  afterEach(() => database.end());
  afterAll(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
    aws.close();
    aws.closeAllConnections();
    await postgres.stop();
  });

  function answerTo(target: string, { Records = [] }: { Records?: { PartitionKey: string }[] }): object {
    if (target.endsWith('GetSecretValue')) {
      return { SecretString: JSON.stringify({ username: 'postgres', password: 'postgres' }) };
    }
    const results = Records.map(({ PartitionKey }, index) => {
      const ErrorCode = throttle ?? (refused.has(PartitionKey) ? 'KMSAccessDeniedException' : undefined);
      if (ErrorCode !== undefined) return { ErrorCode, ErrorMessage: ErrorCode };
      return { ShardId: 'shardId-000000000000', SequenceNumber: String(index) };
    });
    return { FailedRecordCount: 0, Records: results };
  }

  async function startRelay(environment: Record<string, string> = {}): Promise<LambdaFunction> {
    const { host, port, database: name } = database;
    const relay = await LambdaFunction.start({
      name: 'outbox-relay',
      endpoint,
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

  /** Invokes a relay as its schedule does, until no row waits, parked ones included. */
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

  /** The sum of a metric over what an invocation wrote; undefined if it wrote none. */
  function metricIn({ log }: Invocation, name: string): number | undefined {
    const lines = log.split('\n').flatMap((line) => (line.includes('"_aws"') ? [JSON.parse(line)] : []));
    const values = lines.flatMap((line) => (name in line ? [line[name]] : []));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  test('rows of a key wait: parked says which key and why; when the cause is gone they go, and the alarms are quiet', async () => {
    const advice = adviceOf('Failures of an outbox relay');
    const failures = new AlarmInPlay('RelayFailures');
    const minute = (run: Invocation) => failures.minute({ Rejections: metricIn(run, 'Rejections'), Errors: 0 });
    const relay = await startRelay();
    refused.add('a');
    await put('a', '1');
    await put('a', '2');
    await put('b', '3');
    const failed = await relay.invoke({}, A_RUN_MS);
    expect(failed.error).toBeUndefined();
    expect(advice).toContain(
      'a line for each rejected row, `"message": "row rejected"`, with its id, its tries and the cause',
    );
    const lines = failed.log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const rejected = lines.map(({ message }) => message).filter((said) => said?.message === 'row rejected');
    expect(rejected[0]).toMatchObject({ id: '1', tries: 1, isGivenUp: false });
    expect(rejected[0].cause).toContain('KMSAccessDeniedException');
    expect(minute(failed)).toBe(true);

    expect(advice).toContain('The row waits in the table `parked`, and its key with it');
    expect(adviceOf('Rows of an outbox wait')).toContain(
      'the table `parked` of the outbox has the columns `partition_key` and `last_error`',
    );
    const [first, second] = await rowsOf('parked');
    expect(first).toEqual({ partition_key: 'a', last_error: expect.stringContaining('KMSAccessDeniedException') });
    expect(second).toMatchObject({ partition_key: 'a' });

    expect(advice).toContain('when the cause is gone, the next try sends the row, and its key goes on');
    refused.clear();
    const mended = await relayAll(relay);
    expect(await rowsOf('parked')).toEqual([]);
    expect(await waitingRows()).toBe(0);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(failures.isRaised).toBe(false);
  }, 120_000);

  test('with maxTries a row is moved to rejected, its key goes on, and it can be put again', async () => {
    expect(adviceOf('Failures of an outbox relay')).toContain(
      'With `maxTries`, the row is moved to the table `rejected` after these tries, and its key goes on',
    );
    const relay = await startRelay({ [MAX_TRIES]: '1' });
    refused.add('a');
    await put('a', '1');
    await relay.invoke({}, A_RUN_MS);
    expect(await rowsOf('rejected')).toEqual([
      { partition_key: 'a', last_error: expect.stringContaining('KMSAccessDeniedException') },
    ]);
    expect(await rowsOf('parked')).toEqual([]);

    refused.clear();
    for (const statement of statementsOf('Operating')) await database.query(statement.replace('id = 123', 'id = 1'));
    expect(await rowsOf('rejected')).toEqual([]);
    const again = await relayAll(relay);
    expect(metricIn(again, 'RelayedRows')).toBe(1);
  }, 120_000);

  test('a function that fails: its log says why, nothing is relayed, and no value of the lag raises the alarm', async () => {
    expect(adviceOf('Rows of an outbox wait')).toContain('the function does not run, or fails. Its log says why');
    expect(adviceOf('Failures of an outbox relay')).toContain('Its rows are relayed by the next one');
    const lag = new AlarmInPlay('RelayLag');
    const minute = (run: Invocation) => lag.minute({ WaitingSeconds: metricIn(run, 'WaitingSeconds') });
    await put('a', '1');
    const broken = await startRelay({ [DATABASE_NAME]: 'gone' });
    const failed = await broken.invoke({}, A_RUN_MS);
    expect(failed.error).toBeDefined();
    expect(failed.log).toContain('3D000');
    // It has run before, or it is new and is not expected to have run yet.
    lag.minute({ WaitingSeconds: 0 });
    for (let minutes = 0; minutes < 10; minutes++) minute(failed);
    expect(lag.isRaised).toBe(true);

    const relay = await startRelay();
    const mended = await relayAll(relay);
    expect(metricIn(mended, 'RelayedRows')).toBe(1);
    for (let minutes = 0; minutes < 10; minutes++) minute(mended);
    expect(lag.isRaised).toBe(false);
  }, 120_000);

  test('rows are missing: the log and the table name them, and once they are put again the alarm is quiet', async () => {
    const advice = adviceOf('Rows of an outbox are missing');
    const missing = new AlarmInPlay('RelayMissingRows');
    const minute = (run: Invocation) => missing.minute({ MissingRows: metricIn(run, 'MissingRows') && 1 });
    await put('a', 'passed');
    // A position that is wrong.
    await database.query('UPDATE outbox.range SET batch_from = pg_current_snapshot()');
    const relay = await startRelay();
    const found = await relay.invoke({}, A_RUN_MS);
    expect(found.error).toBeUndefined();
    expect(minute(found)).toBe(true);
    expect(advice).toContain('the log has a line `"message": "rows are missing"`');
    expect(found.log).toContain('rows are missing');
    expect(advice).toContain('the table `missing` has the `id` of each');
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

  test('a relay refuses to run: the log has the code, and once the cause is gone its rows are sent', async () => {
    expect(adviceOf('An outbox relay refuses to run')).toContain(
      'The log of the function has the error. Its code is in',
    );
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

  test('a stream that refuses records: rows wait, none is parked with an error, and the function does not fail', async () => {
    expect(adviceOf('Rows of an outbox wait')).toContain(
      'Neither is the case, and more rows come than go. If [the stream refuses records]',
    );
    throttle = 'ProvisionedThroughputExceededException';
    const relay = await startRelay();
    await put('a', '1');
    const run = await relay.invoke({}, A_RUN_MS);
    expect(run.error).toBeUndefined();
    expect(metricIn(run, 'RelayedRows')).toBe(0);
    expect(metricIn(run, 'WaitingSeconds')).toBeGreaterThan(1);
    expect((await rowsOf('parked')).filter(({ last_error }) => last_error !== null)).toEqual([]);
    throttle = undefined;
    await relayAll(relay);
    expect(await waitingRows()).toBe(0);
  }, 120_000);
});
