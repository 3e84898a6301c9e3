import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { relay } from './approaches';

export interface WorkerTask {
  url: string;
  roundTripMs: number;
  forMs: number;
}

/** So many relays at once, each in a thread of its own: rows a second of all. */
export async function relaysAtOnce(workers: number, task: WorkerTask): Promise<number> {
  const rates = await Promise.all(
    Array.from(
      { length: workers },
      () =>
        new Promise<number>((resolve, reject) => {
          const worker = new Worker(__filename, { workerData: task });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** What such a thread does. */
export async function workAlone({ url, roundTripMs, forMs }: WorkerTask): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const rate = await relay(client, roundTripMs, forMs);
  await client.end();
  return rate;
}
