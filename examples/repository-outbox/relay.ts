import { Kinesis } from '@aws-sdk/client-kinesis';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { migrateOutbox, OutboxRelay } from 'cdk-even-shards/outbox';
import { OrderedProducer } from 'cdk-even-shards/producer';
import { Pool } from 'pg';

/**
 * The relay as a separate process, for example in a container:
 *
 *     DATABASE_URL=postgres://... STREAM_NAME=Events node relay.js
 *
 * When ECS, Kubernetes or a terminal sends a stop signal, the relay sends the rows that it has read, and stops. The
 * next relay does not send these rows again.
 */
async function main(): Promise<void> {
  const pool = new Pool({
    connectionString: process.env.DATABASE_URL,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  pool.on('error', (error) => console.warn('connection lost:', error.message));
  const client = await pool.connect();
  await migrateOutbox(client);
  client.release();

  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort());

  const kinesis = new Kinesis({ maxAttempts: 1, requestHandler: new NodeHttpHandler() });
  const producer = new OrderedProducer(kinesis, { streamName: process.env.STREAM_NAME });
  const relay = new OutboxRelay(pool, producer, {
    onRejected: (error) => console.error(error.message),
    onReconnect: (error) => console.warn('connects again:', error.message),
  });
  console.log('relaying');
  const summary = await relay.run({ signal: ending.signal });
  await producer.close();
  await pool.end();
  kinesis.destroy();
  console.log('relayed', summary.relayed);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
