import { setTimeout as sleep } from 'node:timers/promises';
import { deaggregate, OrderedProducer } from '../../lib/core';
import { systemClock } from '../../lib/core/kernel/clock';
import { migrateOutbox, OutboxRelay } from '../../lib/core/outbox';
import { FakeKinesis } from '../../lib/testing/fake-kinesis';
import { goldenValues } from '../support/golden/golden-values';
import { describeOnPostgres } from '../support/postgres/describe-on-postgres';
import { PostgresServer } from '../support/postgres/postgres-server';

interface Event {
  partitionKey: string;
  sequence: { producerId: string; sequenceNumber: bigint };
  text: string;
}
interface ParkedRow {
  partition_key: string;
  id: string;
  bucket: number;
  data: Buffer;
  topic: string | null;
}

/** The values of each version of the schema. */
function goldenSchemas() {
  const values = goldenValues<unknown>('outbox-schema');
  const versions = [...new Set(values.map(([name]) => name.split(', ')[0]!))];
  return versions.map(
    (version): [string, { migrations: { sql: string }[]; puts: Record<string, string>; parked: ParkedRow[] }] => {
      const own = values.filter(([name]) => name.startsWith(`${version}, `));
      return [
        version,
        Object.fromEntries(own.map(([name, value]) => [name.slice(version.length + 2), value])) as never,
      ];
    },
  );
}

const EVENTS = goldenValues<Event>('cloudevents-envelope').map(([, event]) => event);

describeOnPostgres('an outbox that a release created', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 60_000);
  afterAll(() => server?.stop());

  test.each(goldenSchemas())(
    'schema %s – this release migrates the schema, relays its rows and its parked rows, and sends the same events',
    async (version, { migrations, puts, parked }) => {
      const pool = server.pool(await server.createDatabase(`golden_${version.replace(/\W/g, '_')}`));
      const client = await pool.connect();
      for (const { sql } of migrations) await client.query(sql);
      await client.query(`UPDATE outbox.settings SET producer_id = 'producer-1'`);
      const keys = parked.map(({ partition_key }) => `'${partition_key}'`);
      const others = Object.values(puts).filter((put) => !keys.some((key) => put.includes(key)));
      for (const statement of others) await client.query(statement);
      // The relay has parked these rows before its position, which sees their transaction.
      for (const { partition_key, id, bucket, data, topic } of parked) {
        const insert = `INSERT INTO outbox.parked (partition_key, id, xid, bucket, data, created_at, topic, tries)
          VALUES ($1, nextval('outbox.number'), '2', $2, $3, now(), $4, 1) RETURNING id::text`;
        const { rows } = await client.query(insert, [partition_key, bucket, data, topic]);
        expect(rows).toEqual([{ id }]);
      }
      await migrateOutbox(client);

      const kinesis = new FakeKinesis({ clock: systemClock as never });
      const producer = new OrderedProducer(kinesis, { streamName: 'Events' });
      const stop = new AbortController();
      const relay = new OutboxRelay(pool, producer, { retryMs: 20, envelope: { cloudEvents: { source: '/orders' } } });
      const ended = relay.run({ signal: stop.signal });
      const sent = () => kinesis.records().flatMap((record) => deaggregate(record as never));
      for (let waited = 0; sent().length < EVENTS.length + parked.length && waited < 400; waited++) await sleep(50);
      stop.abort();
      await ended;
      client.release();

      const events = sent().map(({ partitionKey, sequence, data }) => {
        const text = Buffer.from(data)
          .toString()
          .replace(/"time":"[^"]+"/, '"time":"2026-12-01T12:00:00.000Z"');
        return { partitionKey, sequence, text };
      });
      const ofOthers = events.filter(({ partitionKey }) => !parked.some((row) => row.partition_key === partitionKey));
      const inOrder = ofOthers.sort((a, b) => Number(a.sequence!.sequenceNumber - b.sequence!.sequenceNumber));
      expect(inOrder).toEqual(EVENTS.map(({ partitionKey, sequence, text }) => ({ partitionKey, sequence, text })));
      const replayed = events.filter(({ partitionKey }) => parked.some((row) => row.partition_key === partitionKey));
      expect(replayed.map(({ sequence }) => String(sequence!.sequenceNumber))).toEqual(parked.map(({ id }) => id));
      const { rows } = await pool.query('SELECT FROM outbox.parked');
      expect(rows).toEqual([]);
    },
    60_000,
  );
});
