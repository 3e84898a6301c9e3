import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { migrateOutbox } from '../../lib/core/outbox';
import { PostgresServer } from '../support/postgres/postgres-server';
import { benchHeldForAnHour, benchHeldSnapshot } from './outbox/held-snapshot';
import { benchLatency } from './outbox/latency';
import { benchProcessorTime } from './outbox/processor-time';
import { benchThroughput, benchWorkers } from './outbox/throughput';
import { benchVerification } from './outbox/verification';
import { workAlone } from './outbox/workers';
import { benchWriters } from './outbox/writers';

/**
 * Measures the relay of an outbox on a real Postgres, with a stream that accepts every record:
 *
 *     npm run bench outbox [part...]
 *     npm run bench outbox held-hour    takes some minutes, and runs only if it is named
 *
 * The server does not wait for its disk (`fsync` is off), and shares the processors with the relay.
 */
const PARTS = ['throughput', 'workers', 'processor-time', 'verification', 'latency', 'writers', 'held-snapshot'];
const SNAPSHOT_CHUNKS = 40;

async function main(names: readonly string[]): Promise<void> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase('bench');
  const [client, second, third] = [await server.connect(url), await server.connect(url), await server.connect(url)];
  await migrateOutbox(client);
  const parts: Record<string, () => Promise<void>> = {
    throughput: () => benchThroughput(client, url),
    workers: () => benchWorkers(client, url),
    'processor-time': () => benchProcessorTime(client, second),
    verification: () => benchVerification(client, second),
    latency: () => benchLatency(client, second),
    writers: () => benchWriters(client),
    'held-snapshot': () => benchHeldSnapshot({ client, holder: second, relayClient: third }, SNAPSHOT_CHUNKS),
    'held-hour': () => benchHeldForAnHour({ client, holder: second, relayClient: third }),
  };
  try {
    for (const name of names.length > 0 ? names : PARTS) await parts[name]!();
  } finally {
    await Promise.all([client, second, third].map((each) => each.end()));
    await server.stop();
  }
}

if (isMainThread) void main(process.argv.slice(2));
else void workAlone(workerData).then((tally) => parentPort!.postMessage(tally));
