import { type DynamoDbItem, FanOutHistory, fanOutQuery } from '../../lib/core';
import { seededRandom } from '../../lib/testing/seeded-random';
import { FakeIndex } from '../fakes/fake-index';
import { timeIndex } from './fan-out/time-index';

/**
 * What an ordered page costs: read units, requests and waves, against asking every shard for a whole page and against
 * reading everything and sorting it. The index is in memory and charges as DynamoDB does, so the numbers are exact.
 */

const SHARD_COUNTS = [10, 20, 50, 100, 200];
const LIMITS = [25, 50, 100, 1_000];
const ITEM_BYTES = [200, 500, 1_000, 4_000];

/** How the items lie in the shards. */
type Layout = 'uniform' | 'skewed' | 'runs';

/** One of the shards of a skewed index holds so many times as much as another. */
const SKEW = 4;

/** So many consecutive items of an index with runs lie in one shard. */
const RUN = 40;

/** Each cell reads so many items in pages of its limit. */
const ITEMS_PER_CELL = 10_000;
const MOST_PAGES = 100;

const BLOCK_BYTES = 4_096;
const UNIT_BYTES = 8_192;
const SEED = 20_201_101;

interface Cell {
  shards: number;
  limit: number;
  bytes: number;
  units: number;
  requests: number;
  waves: number;
  /** The least any page can cost: half a unit a shard, or what its items are charged. */
  floor: number;
  /** Limit = L on every shard. */
  naive: number;
  /** Reading all shards to their end and sorting: what a page costs when no page is kept. */
  all: number;
  /** Whether the shares of a page fit the first block of every shard. */
  oneBlock: boolean;
}

async function cell(layout: Layout, warm: boolean, shards: number, limit: number, bytes: number): Promise<Cell> {
  const config = timeIndex(shards);
  const random = seededRandom(SEED + shards * 31 + limit * 7 + bytes);
  const pages = warm ? Math.min(MOST_PAGES, Math.ceil(ITEMS_PER_CELL / limit)) : 1;
  const count = (pages + 1) * limit + shards * 10;
  const index = new FakeIndex(config);
  for (let number = 0; number < count; number++) {
    index.put(item(number, shardOf(layout, number, shards, random), bytes));
  }
  const history = new FanOutHistory();
  if (warm) await fanOutQuery(index, config, { limit }, { history });
  let cursor: string | undefined;
  let [units, requests, waves] = [0, 0, 0];
  for (let page = 0; page < pages; page++) {
    const answer = await fanOutQuery(index, config, { limit, cursor }, { history });
    if (answer.items.length !== limit) throw new Error('a page is short');
    units += answer.stats.consumedReadUnits;
    requests += answer.stats.requests;
    waves += answer.stats.waves;
    cursor = answer.cursor;
  }
  const blocks = (items: number): number => Math.ceil((items * bytes) / BLOCK_BYTES);
  const share = limit / shards;
  return {
    shards,
    limit,
    bytes,
    units: units / pages,
    requests: requests / pages,
    waves: waves / pages,
    floor: Math.max(shards * 0.5, (limit * bytes) / UNIT_BYTES),
    naive: shards * 0.5 * blocks(limit),
    all: (count * bytes) / UNIT_BYTES,
    oneBlock: Math.ceil(share + 2 * Math.sqrt(share)) * bytes <= BLOCK_BYTES,
  };
}

function shardOf(layout: Layout, number: number, shards: number, random: () => number): number {
  if (layout === 'runs') return (Math.floor(number / RUN) * 7) % shards;
  // The first fifth of a skewed index's shards has most of the items.
  const heavy = Math.max(1, Math.floor(shards / 5));
  const weight = heavy * SKEW + (shards - heavy);
  const drawn = random() * (layout === 'skewed' ? weight : shards);
  if (layout === 'uniform') return Math.floor(drawn);
  return drawn < heavy * SKEW ? Math.floor(drawn / SKEW) : Math.floor(heavy + (drawn - heavy * SKEW));
}

function item(number: number, shard: number, bytes: number): DynamoDbItem {
  const key = { id: { S: `item-${String(number).padStart(8, '0')}` }, at: { N: String(number + 10_000_000) } };
  const fixed = 2 + 13 + 2 + 5 + 5 + 2 + 3;
  return { ...key, shard: { N: String(shard) }, pad: { S: 'x'.repeat(bytes - fixed) } };
}

async function table(layout: Layout, warm: boolean, quiet: boolean): Promise<Cell[]> {
  const heads = ['shards', 'limit', 'bytes', 'units', 'floor', 'x floor', 'requests', 'waves', 'L each', 'all+sort'];
  if (!quiet) console.log(`\n${layout}, ${warm ? 'warm' : 'cold'}\n${heads.map((head) => head.padStart(9)).join('')}`);
  const cells: Cell[] = [];
  for (const bytes of ITEM_BYTES) {
    for (const shards of SHARD_COUNTS) {
      for (const limit of LIMITS) {
        const found = await cell(layout, warm, shards, limit, bytes);
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
      const over = ({ units, floor }: Cell): number => units / floor;
      const worst = cells.reduce((a, b) => (over(b) > over(a) ? b : a));
      const mean = (of: (cell: Cell) => number): string =>
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
