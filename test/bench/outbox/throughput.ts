import type { Client } from 'pg';
import { rounded } from '../../support/tables/producer/table';
import { type Approach, articleCycle, skipLocked } from './approaches';
import { fillArticleTable, fillOutbox } from './backlog';
import { writeTable } from './guide';
import { relaysAtOnce } from './workers';

const FOR_MS = 4_000;

/** Rows a second of a backlog, against the article's cycle and against batches that skip locked rows. */
export async function benchThroughput(client: Client, url: string): Promise<void> {
  console.log("rows of 100 bytes, rows a second; in brackets, times the article's cycle\n");
  const table: string[][] = [];
  for (const keys of [1, 10_000]) {
    for (const roundTripMs of [0, 20]) {
      const rows = 200_000;
      const ofArticle = async (approach: Approach): Promise<number> => {
        // Its statement reads the whole backlog for each row of a key: a small one is in its favour.
        await fillArticleTable(client, keys === 1 ? 20_000 : 100_000, keys);
        return approach(client, roundTripMs, FOR_MS);
      };
      const ofRelays = async (workers: number): Promise<number> => {
        await client.query('TRUNCATE outbox.message, outbox.parked');
        await client.query('SELECT outbox.divide($1)', [workers]);
        return relaysAtOnce(workers, { url, roundTripMs, forMs: FOR_MS }, () => fillOutbox(client, rows, keys));
      };
      const cycle = await ofArticle(articleCycle);
      const row = [cycle, await ofArticle(skipLocked), await ofRelays(1), await ofRelays(4)].map(
        (rate) => `${rounded(rate)} (${rounded(rate / cycle, rate / cycle < 10 ? 1 : 0)})`,
      );
      table.push([`${rounded(keys)} key${keys === 1 ? '' : 's'}, round trip ${roundTripMs} ms`, ...row]);
    }
  }
  writeTable('throughput', ['', "article's cycle", '`SKIP LOCKED`', 'relay, 1 worker', 'relay, 4 workers'], table);
}
