import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { migrateOutbox } from '../../lib/core/outbox';
import { PostgresServer } from '../support/postgres/postgres-server';
import { benchThroughput, benchWorkers } from './outbox/throughput';
import { workAlone } from './outbox/workers';

/**
 * Measures the relay of an outbox on a real Postgres, with a stream that accepts every record:
 *
 *     npm run bench outbox [part...]
 *
 * The server does not wait for its disk (`fsync` is off), and shares the processors with the relay.
 */
const PARTS = ['throughput', 'workers'];

async function main(names: readonly string[]): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase('bench');
  const client = await server.connect(url);
  await migrateOutbox(client);
  const parts: Record<string, () => Promise<void>> = {
    throughput: () => benchThroughput(client, url),
    workers: () => benchWorkers(client, url),
  };
  try {
    for (const name of names.length > 0 ? names : PARTS) await parts[name]!();
  } finally {
    await client.end();
    await server.stop();
  }
}

if (isMainThread) void main(process.argv.slice(2));
else void workAlone(workerData).then((tally) => parentPort!.postMessage(tally));
