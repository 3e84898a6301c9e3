import { type DynamoDbItem, FanOutHistory, fanOutQuery } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

/** The distribution of the items over the shards. */
export type Layout = 'uniform' | 'skewed' | 'runs';

/** A heavy shard of a skewed index has this many times the items of another shard. */
const SKEW = 4;

/** The number of consecutive items in one shard of an index with runs. */
const RUN = 40;

/** The number of items that each cell reads in pages. */
const ITEMS_PER_CELL = 10_000;

const BLOCK_BYTES = 4_096;
const UNIT_BYTES = 8_192;
const SEED = 20_201_101;

/** The mean cost of the pages of one combination. */
export interface PageCost {
  shards: number;
  limit: number;
  bytes: number;
  units: number;
  requests: number;
  waves: number;
  /**
   * The minimum cost of a page: half a read unit for each shard, or the read units of the items of the page, if this is
   * more.
   */
  floor: number;
  /** The cost if the query reads every shard with the limit of the page. */
  naive: number;
  /** The cost if the query reads all items of all shards and sorts them. */
  all: number;
  /** Whether one block is enough for the items of the page in each shard. */
  oneBlock: boolean;
}

/**
 * Reads pages of an index in memory that charges read units as DynamoDB does. If `warm` is true, the query knows the item sizes
 * from an earlier page.
 */
export async function pageCost(
  layout: Layout,
  warm: boolean,
  { shards, limit, bytes, mostPages = 100 }: { shards: number; limit: number; bytes: number; mostPages?: number },
): Promise<PageCost> {
  const config = timeIndex(shards);
  const random = seededRandom(SEED + shards * 31 + limit * 7 + bytes);
  const pages = warm ? Math.min(mostPages, Math.ceil(ITEMS_PER_CELL / limit)) : 1;
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
  // In a skewed index, the first fifth of the shards has most of the items.
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
