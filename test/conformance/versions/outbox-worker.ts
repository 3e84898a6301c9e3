import { createRequire } from 'node:module';
import { Client, Pool } from 'pg';
import type { OutboxMigration, OutboxVerification, ShardRecord, UserRecord } from '../../../lib/core';
import type { Once } from '../../../lib/core/consumer';
import { tuned } from '../../support/postgres/tuned';
import { serve, type WorkerContext } from './serve';

/** A program for the tests of the outbox. */

export interface RelayInput {
  url: string;
  /** The topics whose streams the relay knows. A stream has the name of its topic. */
  topics: string[];
  maxTries?: number;
}

/** The relay function stops reading rows 10 seconds before its timeout, so each invocation relays rows for two seconds. */
const INVOCATION_MS = 12_000;

const CLOUD_EVENTS = { source: '/shop', defaultType: 'changed' };

export function outboxCalls({ core, kinesis }: WorkerContext) {
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  function relayOn(pool: Pool, { topics, maxTries }: Omit<RelayInput, 'url'>) {
    const producers = topics.map((topic) => [
      topic,
      new core.OrderedProducer(kinesis, { streamName: topic, aggregation: true }),
    ]);
    const intervals = { leaseMs: 50, saveMs: 20, retryMs: 50, pollMs: 50, rotateMs: 100 };
    return new core.OutboxRelay(
      pool,
      Object.fromEntries(producers),
      tuned({ ...intervals, onReconnect: () => {}, maxTries, envelope: { cloudEvents: CLOUD_EVENTS } }),
    );
  }

  async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
    const pool = new Pool({ connectionString: url, max: 2 });
    pool.on('error', () => {});
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }

  async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** In one transaction, handles a record once and inserts its number into the table effect. */
  async function apply(client: Client, source: string, { partitionKey, data }: UserRecord, once: Once): Promise<void> {
    const { n } = JSON.parse(Buffer.from(data).toString()).data;
    await client.query('BEGIN');
    try {
      await once.postgres(client);
      const effect = [source, partitionKey, n];
      await client.query('INSERT INTO effect (source, partition_key, n) VALUES ($1, $2, $3)', effect);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  }

  return {
    migrate: ({ url }: { url: string }): Promise<number[]> => withClient(url, (client) => core.migrateOutbox(client)),

    migrations: (): OutboxMigration[] => core.outboxMigrationsOf('outbox'),

    /** Starts a relay of the library. */
    startLibrary({ url, ...options }: RelayInput): void {
      running = withPool(url, (pool) => relayOn(pool, options).run({ signal: ending.signal }));
      running.catch(() => {});
    },

    /** Invokes the bundled function again and again, as its schedule does. */
    startBundle({ environment }: { environment: Record<string, string> }): void {
      Object.assign(process.env, environment);
      // The function writes its log and its metrics to this stream.
      process.stdout.write = () => true;
      for (const level of ['info', 'warn', 'error'] as const) console[level] = () => {};
      const { handler } = createRequire(`${process.argv[2]}/package.json`)('./dist/lambda/outbox-relay/index.js');
      running = (async () => {
        while (!ending.signal.aborted) {
          const endMs = Date.now() + INVOCATION_MS;
          await handler({}, { getRemainingTimeInMillis: () => Math.max(0, endMs - Date.now()) });
        }
      })();
      running.catch(() => {});
    },

    /** Waits until the relay has ended. Throws its error. */
    ended: async (): Promise<void> => void (await running),

    async stop(): Promise<void> {
      ending.abort();
      await running;
    },

    verify: ({ url }: { url: string }): Promise<OutboxVerification> =>
      withPool(url, (pool) => relayOn(pool, { topics: ['any'] }).verify()),

    replay: ({ url, topics, partitionKey }: RelayInput & { partitionKey: string }): Promise<number> =>
      withPool(url, (pool) => relayOn(pool, { topics }).replay({ partitionKey })),

    /** Handles records of a stream. */
    consume: ({ url, source, records }: { url: string; source: string; records: ShardRecord[] }): Promise<string[]> =>
      withClient(url, async (client) => {
        await client.query(core.ONCE_POSTGRES_TABLE);
        const consumer = new core.OrderedConsumer((record, { once }) => apply(client, source, record, once), {
          parking: new core.MemoryParkingStore(),
          concurrency: 1,
        });
        return (await consumer.process(records, { source })).problems.map(String);
      }),
  };
}

serve(outboxCalls);
