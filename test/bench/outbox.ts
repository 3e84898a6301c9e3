import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { migrateOutbox } from '../../lib/core/outbox';
import { PostgresServer } from '../support/postgres/postgres-server';
import { benchLatency } from './outbox/latency';
import { benchThroughput, benchWorkers } from './outbox/throughput';
import { workAlone } from './outbox/workers';
import { benchWriters } from './outbox/writers';

/**
 * Measures the relay of an outbox on a real Postgres, with a stream that accepts every record:
 *
 *     npm run bench outbox [part...]
 *
 * The server does not wait for its disk (`fsync` is off), and shares the processors with the relay.
 */
const PARTS = ['throughput', 'workers', 'latency', 'writers'];

async function main(names: readonly string[]): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase('bench');
  const [client, second] = [await server.connect(url), await server.connect(url)];
  await migrateOutbox(client);
  const parts: Record<string, () => Promise<void>> = {
    throughput: () => benchThroughput(client, url),
    workers: () => benchWorkers(client, url),
    latency: () => benchLatency(client, second),
    writers: () => benchWriters(client),
  };
  try {
    for (const name of names.length > 0 ? names : PARTS) await parts[name]!();
  } finally {
    await Promise.all([client, second].map((each) => each.end()));
    await server.stop();
  }
}

if (isMainThread) void main(process.argv.slice(2));
else void workAlone(workerData).then((tally) => parentPort!.postMessage(tally));
