import { type Layout, type PageCost, pageCost } from './fan-out/page-cost';

/**
 * What an ordered page costs: read units, requests and waves, against asking every shard for a whole page and against
 * reading everything and sorting it. The index is in memory and charges as DynamoDB does, so the numbers are exact.
 */

const SHARD_COUNTS = [10, 20, 50, 100, 200];
const LIMITS = [25, 50, 100, 1_000];
const ITEM_BYTES = [200, 500, 1_000, 4_000];

async function table(layout: Layout, warm: boolean, quiet: boolean): Promise<PageCost[]> {
  const heads = ['shards', 'limit', 'bytes', 'units', 'floor', 'x floor', 'requests', 'waves', 'L each', 'all+sort'];
  if (!quiet) console.log(`\n${layout}, ${warm ? 'warm' : 'cold'}\n${heads.map((head) => head.padStart(9)).join('')}`);
  const cells: PageCost[] = [];
  for (const bytes of ITEM_BYTES) {
    for (const shards of SHARD_COUNTS) {
      for (const limit of LIMITS) {
        const found = await pageCost(layout, warm, { shards, limit, bytes });
        cells.push(found);
        const { units, floor, requests, waves, naive, all, oneBlock } = found;
        const numbers = [
          String(shards),
          String(limit),
          String(bytes),
          units.toFixed(1),
          floor.toFixed(1),
          `${(units / floor).toFixed(2)}${oneBlock ? '*' : ' '}`,
          requests.toFixed(1),
          waves.toFixed(2),
          `${(naive / units).toFixed(1)}x`,
          `${(all / units).toFixed(0)}x`,
        ];
        if (!quiet) console.log(numbers.map((number) => number.padStart(9)).join(''));
      }
    }
  }
  return cells;
}

/** `npm run bench fan-out-read-units [cells]`: the summary of all layouts, and with "cells" every cell. */
async function main(quiet: boolean): Promise<void> {
  console.log('layout    sizes   worst x floor   in cell                   mean x floor   waves, mean and most');
  for (const layout of ['uniform', 'skewed', 'runs'] as const) {
    for (const warm of [true, false]) {
      const cells = await table(layout, warm, quiet);
      const over = ({ units, floor }: PageCost): number => units / floor;
      const worst = cells.reduce((a, b) => (over(b) > over(a) ? b : a));
      const mean = (of: (cell: PageCost) => number): string =>
        (cells.reduce((sum, each) => sum + of(each), 0) / cells.length).toFixed(2);
      const where = `${worst.shards} x ${worst.limit} x ${worst.bytes} B`;
      const waves = `${mean((each) => each.waves)}, ${Math.max(...cells.map((each) => each.waves)).toFixed(2)}`;
      console.log(
        `${layout.padEnd(10)}${(warm ? 'known' : 'unknown').padEnd(8)}${over(worst).toFixed(2).padStart(11)}     ${where.padEnd(26)}${mean(over).padStart(11)}   ${waves.padStart(18)}`,
      );
    }
  }
}

void main(process.argv[2] !== 'cells');
