import { seededRandom } from '../../lib/testing/seeded-random';
import { type Core, coresToCompare } from '../support/core-at';
import { FakeIndex } from '../support/fakes/fake-index';
import { HeldItems } from '../support/fakes/held-items';
import { timeIndex } from '../support/tables/fan-out/time-index';

interface Page {
  readonly name: string;
  readonly shards: number;
  readonly itemBytes: number;
  readonly items: number;
  readonly limit?: number;
  readonly maxPageBytes?: number;
}

/** What the function asks for by default: bytes bound the page, as its answer has 6 MB at most. */
const RESPONSE_BYTES = 5_900_000;

const PAGES: Page[] = [
  { name: 'a limit just above 10,000', shards: 20, itemBytes: 200, items: 50_000, limit: 10_001 },
  ...[20, 50].map((shards) => ({
    ...{
      name: 'bounded by bytes alone',
      shards,
      itemBytes: 200,
      items: 6_000 * shards,
      maxPageBytes: RESPONSE_BYTES,
    },
  })),
  { name: 'items of 400 kB', shards: 1_000, itemBytes: 400_000, items: 3_000, limit: 12 },
];

/**
 * What a page holds at most of the items that it was answered, and what it costs, with known sizes: of pages that were once read without a limit,
 * and of one of the largest items. With "against REF" also of the core as it was at that commit.
 *
 *     npm run bench fan-out-memory [against REF]
 */
async function main(benchArguments: string[]): Promise<void> {
  const cores = await coresToCompare(benchArguments);
  for (const page of PAGES) {
    console.log(`${page.name}, ${page.shards} shards of ${page.items} items of ${page.itemBytes} bytes`);
    for (const [name, core] of cores) console.log(`  ${name.padEnd(8)} ${await told(page, core)}`);
  }
}

async function told({ shards, itemBytes, items, limit, maxPageBytes }: Page, core: Core): Promise<string> {
  const index = new FakeIndex(timeIndex(shards));
  const random = seededRandom(7);
  const pad = { S: 'x'.repeat(itemBytes - 40) };
  for (let number = 0; number < items; number++) {
    const shard = { N: String(Math.floor(random() * shards)) };
    index.put({ id: { S: `i${number}` }, at: { N: String(10_000_000 + number) }, shard, pad });
  }
  const history = new core.FanOutHistory();
  await core.fanOutQuery(index, timeIndex(shards), { limit: 20 }, { history });
  const client = new HeldItems(index, 10);
  const page = await core.fanOutQuery(client, timeIndex(shards), { limit }, { maxPageBytes, history });
  await client.count();
  const { consumedReadUnits, requests } = page.stats;
  const megabytes = (client.mostBytes / 1e6).toFixed(1);
  return `${page.items.length} items: ${megabytes} MB held at most, ${consumedReadUnits} read units, ${requests} requests`;
}

void main(process.argv.slice(2));
