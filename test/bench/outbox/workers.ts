import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { pause, rateOf, relay, type Tally } from './approaches';

interface WorkerTask {
  url: string;
  roundTripMs: number;
  forMs: number;
}

/** The time after which each worker has claimed its share of the ranges. */
const BALANCED_MS = 4_000;

/** The rows per second of several relays, each in its own thread. The rows are put when all relays are ready. */
export async function relaysAtOnce(workers: number, task: WorkerTask, fill: () => Promise<void>): Promise<number> {
  const tallies = Array.from(
    { length: workers },
    () =>
      new Promise<Tally>((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: task });
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  if (workers > 1) await pause(BALANCED_MS);
  await fill();
  return rateOf(await Promise.all(tallies));
}

/** Runs one relay in its thread. */
export async function workAlone({ url, roundTripMs, forMs }: WorkerTask): Promise<Tally> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const tally = await relay(client, roundTripMs, forMs);
  await client.end();
  return tally;
}
