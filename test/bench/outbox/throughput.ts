import type { Client } from 'pg';

import { printTable, rounded } from '../../support/tables/producer/table';
import { type Approach, articleCycle, skipLocked } from './approaches';
import { fillArticleTable, fillOutbox } from './backlog';
import { relaysAtOnce } from './workers';

interface Load {
  readonly keys: number;
  readonly roundTripMs: number;
  /** @default enough rows for the whole measurement */
  readonly rows?: number;
  /** @default 100 bytes with the key */
  readonly dataBytes?: number;
}

const LOADS: readonly Load[] = [
  { keys: 1, roundTripMs: 0 },
  { keys: 1, roundTripMs: 20 },
  { keys: 10_000, roundTripMs: 0 },
  { keys: 10_000, roundTripMs: 20 },
  { keys: 1_000_000, roundTripMs: 20, rows: 1_000_000 },
  { keys: 10_000, roundTripMs: 20, rows: 20_000, dataBytes: 10_000 },
];

/** The duration of a real PutRecords request. */
const ROUND_TRIP_MS = 20;

const FOR_MS = 4_000;

/**
 * Measures the rows per second while a relay sends a backlog. Compares the relay with the cycle of "Guaranteeing Order
 * with Kinesis Bulk Puts", and with batches that skip locked rows.
 */
export async function benchThroughput(client: Client, url: string): Promise<void> {
  console.log("rows a second; in brackets, times the article's cycle\n");
  const table: string[][] = [];
  for (const load of LOADS) {
    const { keys, roundTripMs, rows = 100_000, dataBytes } = load;
    const ofArticle = async (approach: Approach): Promise<number> => {
      // The statement of the article reads the whole backlog for each row of a key, so its cycle is fastest with a
      // small backlog.
      await fillArticleTable(client, keys === 1 ? 20_000 : rows, keys, dataBytes);
      return approach(client, roundTripMs, FOR_MS);
    };
    const cycle = await ofArticle(articleCycle);
    const row = [cycle, await ofArticle(skipLocked), await ofRelays(client, url, 1, load)].map(
      (rate) => `${rounded(rate)} (${rounded(rate / cycle, rate / cycle < 10 ? 1 : 0)})`,
    );
    table.push([`${nameOf(load)}, round trip ${roundTripMs} ms`, ...row]);
  }
  printTable(['', "article's cycle", '`SKIP LOCKED`', 'relay'], table);
}

/** Measures the rows per second of several workers, each in its own thread. */
export async function benchWorkers(client: Client, url: string): Promise<void> {
  console.log('rows a second by the number of workers; in brackets, times one worker\n');
  const table: string[][] = [];
  for (const load of LOADS.filter(({ roundTripMs }) => roundTripMs === ROUND_TRIP_MS)) {
    const one = await ofRelays(client, url, 1, load);
    const row = [one, await ofRelays(client, url, 2, load), await ofRelays(client, url, 4, load)];
    table.push([nameOf(load), ...row.map((rate) => `${rounded(rate)} (${rounded(rate / one, 1)})`)]);
  }
  printTable([`round trip ${ROUND_TRIP_MS} ms`, '1 worker', '2 workers', '4 workers'], table);
}

async function ofRelays(
  client: Client,
  url: string,
  workers: number,
  { keys, roundTripMs, rows = 200_000, dataBytes }: Load,
): Promise<number> {
  await client.query('TRUNCATE outbox.message, outbox.parked, outbox.ended');
  await client.query('SELECT outbox.divide($1)', [workers]);
  const task = { url, roundTripMs, forMs: FOR_MS };
  return relaysAtOnce(workers, task, () => fillOutbox(client, rows, keys, dataBytes));
}

function nameOf({ keys, dataBytes }: Load): string {
  return `${rounded(keys)} key${keys === 1 ? '' : 's'}${dataBytes === undefined ? '' : ', rows of 10 kB'}`;
}
