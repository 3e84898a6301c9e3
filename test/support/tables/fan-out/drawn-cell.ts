import type { DynamoDbItem, FanOutRequest } from '../../../../lib/core';
import * as core from '../../../../lib/core';
import { ItemSizes } from '../../../../lib/core/fan-out/item-sizes';
import { readSize } from '../../../../lib/core/fan-out/read-size';
import { itemBytes } from '../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import type { Core } from '../../core-at';
import { FakeIndex } from '../../fakes/fake-index';
import { timeIndex } from './time-index';

/** One page, drawn from everything that DynamoDB allows. */
interface DrawnCell {
  seed: number;
  shards: number;
  limit: number | undefined;
  maxPageBytes: number | undefined;
  itemBytes: number;
  sizes: 'alike' | 'mixed';
  layout: 'uniform' | 'skewed' | 'runs';
  order: NonNullable<FanOutRequest['order']>;
  /** Whether a condition leaves out the first half of the items. */
  half: boolean;
  /** One in so many items passes the filter. */
  oneIn: 1 | 10 | 1_000;
  warm: boolean;
}

/** What the page has cost. */
interface DrawnCost {
  cell: DrawnCell;
  items: number;
  units: number;
  /** What a reader would pay who knows beforehand which items the page has, each read rounded as DynamoDB rounds. */
  floor: number;
  /**
   * What the first item of each shard costs that has none on the page, besides the block that every read costs. Without an order: of as
   * many shards behind the end of the page as before it, which the last wave may ask in vain.
   */
  heads: number;
  /** What the first wave costs if it takes an item for a block, because it knows no sizes. */
  unknown: number;
  /** What it costs to read as many items of each shard as of the one of which the page needs most, and four times as many more. */
  evenly: number;
  requests: number;
  waves: number;
}

const BLOCK_BYTES = 4_096;
/** Source: the DynamoDB developer guide, "Quotas": 400 KB. */
const MOST_ITEM_BYTES = 400_000;
const MOST_SHARDS = 1_000;
/** The largest limit that is drawn. */
const MOST_LIMIT = 100_000;
/** An index has so many items at most; a page that asks for more ends with the index. */
const MOST_ITEMS = 130_000;

export function drawCell(seed: number): DrawnCell {
  const random = seededRandom(seed);
  const logarithmic = (least: number, most: number): number => Math.round(least * (most / least) ** random());
  const pick = <E>(...from: E[]): E => from[Math.floor(random() * from.length)]!;
  const shards = logarithmic(1, MOST_SHARDS);
  const bytes = logarithmic(100, MOST_ITEM_BYTES);
  const bounds = pick('limit', 'bytes', 'both');
  const oneIn = pick<1 | 10 | 1_000>(1, 1, 1, 10, 1_000);
  const limit = logarithmic(1, MOST_LIMIT);
  return {
    seed,
    shards,
    limit: bounds === 'bytes' ? undefined : limit,
    maxPageBytes: bounds === 'limit' ? undefined : logarithmic(1_000, 16_000_000),
    itemBytes: bytes,
    sizes: pick('alike', 'mixed'),
    layout: pick('uniform', 'skewed', 'runs'),
    order: pick('ascending', 'descending', 'unordered'),
    half: pick(true, false),
    oneIn,
    warm: pick(true, false),
  };
}

/** How many floors a page may cost. */
export const MOST_FLOORS = 2.5;

/** Where a filter hides items, a read asks for up to four times as many as the reads of its shard before it. */
const MOST_GROWTH = 4;

/** The most that docs/decisions/0049 allows a page to cost, in read units. */
export function boundOf({ cell: { oneIn, order }, floor, heads, unknown, evenly }: DrawnCost): number {
  if (oneIn === 1) return MOST_FLOORS * (floor + heads) + unknown;
  const grown = (1 + MOST_GROWTH) * (floor + heads) + unknown;
  return order === 'unordered' ? grown : Math.max(grown, evenly);
}

/** Reads the page, on an index in memory that charges as DynamoDB does. */
export async function drawnCost(
  cell: DrawnCell,
  { fanOutQuery, FanOutHistory }: Pick<Core, 'fanOutQuery' | 'FanOutHistory'> = core,
): Promise<DrawnCost> {
  const { shards, limit, maxPageBytes, order, half, oneIn } = cell;
  const config = timeIndex(shards);
  const { index, items } = filled(cell);
  const begin = half ? Math.floor(items.length / 2) : 0;
  const filter = {
    filterExpression: '#chosen = :yes',
    expressionAttributeNames: { '#chosen': 'chosen' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  };
  const request: FanOutRequest = {
    order,
    limit,
    ...(half && { sortKey: { gte: 10_000_000 + begin } }),
    ...(oneIn > 1 && filter),
  };
  const history = new FanOutHistory();
  if (cell.warm) await fanOutQuery(index, config, { order, limit: 20 }, { history });
  const { items: page, cursor, stats } = await fanOutQuery(index, config, request, { maxPageBytes, history });
  const inOrder = order === 'descending' ? items.slice(begin).toReversed() : items.slice(begin);
  const read = cursor === undefined ? inOrder : upTo(inOrder, page.at(-1)!, order);
  const inShard = Array.from({ length: shards }, (): DynamoDbItem[] => []);
  for (const item of inOrder) inShard[shardOf(item)]!.push(item);
  const bytesOf = new Map<number, number>();
  for (const item of read) bytesOf.set(shardOf(item), (bytesOf.get(shardOf(item)) ?? 0) + itemBytes(item));
  const lastShard = order === 'unordered' && cursor !== undefined ? shardOf(page.at(-1)!) : shards - 1;
  const asked = Math.min(shards, order === 'unordered' ? 2 * (lastShard + 1) + 1 : shards);
  const share = sharesOf(cell);
  const behind = asked - lastShard - 1;
  const ahead = behind > 0 ? Math.ceil(page.length / behind) : 1;
  const mostRead = Math.max(...countBy(read.map(shardOf)).values());
  let [floor, heads, unknown, evenly] = [0, 0, 0, 0];
  for (let shard = 0; shard < asked; shard++) {
    const bytes = bytesOf.get(shard);
    const least = shard > lastShard ? 0 : blocks(bytes ?? 0);
    const ofShard = inShard[shard]!;
    floor += least / 2;
    if (bytes === undefined) heads += (answerBlocks(ofShard.slice(0, ahead)) - least) / 2;
    evenly += answersBlocks(ofShard.slice(0, (1 + MOST_GROWTH) * mostRead)) / 2;
    if (!cell.warm && (order !== 'unordered' || shard <= lastShard))
      unknown += answerBlocks(ofShard.slice(0, share)) / 2;
  }
  const { consumedReadUnits: units, requests, waves } = stats;
  return { cell, items: page.length, units, floor, heads, unknown, evenly, requests, waves };
}

const blocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES));

function countBy(numbers: readonly number[]): Map<number, number> {
  const counts = new Map([[-1, 0]]);
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** What as many answers as it takes cost, each rounded up. */
function answersBlocks(items: readonly DynamoDbItem[]): number {
  const bytes = items.reduce((sum, item) => sum + itemBytes(item), 0);
  return blocks(bytes) + items.length;
}

/** What an answer of these items costs. It ends at a megabyte. */
function answerBlocks(items: readonly DynamoDbItem[]): number {
  let bytes = 0;
  for (const item of items) {
    bytes += itemBytes(item);
    if (bytes > 2 ** 20) break;
  }
  return blocks(bytes);
}

/** How many items a reader asks a shard for that takes an item for a block. */
function sharesOf({ shards, limit, maxPageBytes, order }: DrawnCell): number {
  const inBytes = maxPageBytes === undefined ? Number.POSITIVE_INFINITY : Math.ceil(maxPageBytes / BLOCK_BYTES);
  const expected = Math.min(limit ?? Number.POSITIVE_INFINITY, inBytes);
  return readSize(expected, order === 'unordered' ? 1 : shards, new ItemSizes());
}

/** Draws pages, and prints the ten that cost each core most, as a multiple of the floor. */
export async function tellDearest(pages: number, firstSeed: number, cores: ReadonlyMap<string, Core>): Promise<void> {
  for (const [name, each] of cores) {
    const costs: DrawnCost[] = [];
    for (let seed = firstSeed; seed < firstSeed + pages; seed++) costs.push(await drawnCost(drawCell(seed), each));
    console.log(`\n${name}: ${summaryOf(costs)}`);
    for (const cost of costs.toSorted((a, b) => inFloors(b) - inFloors(a)).slice(0, 10)) {
      const { cell, items, units, floor, requests, waves } = cost;
      const { seed, ...axes } = cell;
      const told = Object.entries(axes).map(([axis, value]) => `${axis} ${value ?? 'none'}`);
      console.log(
        `${inFloors(cost).toFixed(2)} floors, ${(units / boundOf(cost)).toFixed(2)} of the bound, seed ${seed}:`,
      );
      console.log(`  ${told.join(', ')}`);
      console.log(`  ${items} items, ${units} units of ${floor}, ${requests} requests, ${waves} waves`);
    }
  }
}

const inFloors = ({ units, floor }: DrawnCost): number => units / floor;

function summaryOf(costs: readonly DrawnCost[]): string {
  const above = costs.filter((cost) => inFloors(cost) > MOST_FLOORS);
  const byHeads = above.filter(({ units, floor, heads }) => units <= MOST_FLOORS * (floor + heads));
  const beyond = costs.filter((cost) => cost.units > boundOf(cost));
  const mean = Math.exp(costs.reduce((sum, cost) => sum + Math.log(inFloors(cost)), 0) / costs.length);
  return (
    `${costs.length} pages, ${mean.toFixed(2)} floors in the geometric mean: ${above.length} above ${MOST_FLOORS} floors, ` +
    `${byHeads.length} of them by first items alone; ${beyond.length} above their bound`
  );
}

function shardOf({ shard }: DynamoDbItem): number {
  return Number((shard as { N: string }).N);
}

/** What a page has read that ends with an item. */
function upTo(inOrder: DynamoDbItem[], last: DynamoDbItem, order: string): DynamoDbItem[] {
  const at = inOrder.findIndex(({ id }) => (id as { S: string }).S === (last.id as { S: string }).S);
  if (order !== 'unordered') return inOrder.slice(0, at + 1);
  return inOrder.filter((item, number) =>
    shardOf(item) === shardOf(last) ? number <= at : shardOf(item) < shardOf(last),
  );
}

/** As many items as the page needs, and a quarter more. */
function filled({ seed, shards, limit, maxPageBytes, itemBytes: mean, sizes, layout, oneIn, half }: DrawnCell) {
  const random = seededRandom(seed + 1);
  const onPage = Math.min(limit ?? Number.POSITIVE_INFINITY, (maxPageBytes ?? Number.POSITIVE_INFINITY) / mean);
  const needed = (onPage * oneIn * 1.25 + 3 * shards) * (half ? 2 : 1);
  const count = Math.ceil(Math.min(MOST_ITEMS, needed));
  const index = new FakeIndex(timeIndex(shards));
  const paddings = new Map<number, string>();
  // Items of about one size have one text between them, so that many large ones fit into memory.
  const padding = (bytes: number): string => {
    const step = Math.round(100 * Math.log(Math.max(80, bytes)));
    const pad = paddings.get(step) ?? 'x'.repeat(Math.min(MOST_ITEM_BYTES, Math.exp(step / 100)) - 60);
    paddings.set(step, pad);
    return pad;
  };
  const items: DynamoDbItem[] = [];
  const heavy = Math.max(1, Math.floor(shards / 5));
  let [run, left] = [0, 0];
  for (let number = 0; number < count; number++) {
    if (left === 0) [run, left] = [Math.floor(random() * shards), 40];
    left -= 1;
    const skewed = Math.floor(random() * (random() < 0.5 ? heavy : shards));
    const shard = layout === 'runs' ? run : layout === 'skewed' ? skewed : Math.floor(random() * shards);
    const bytes = sizes === 'alike' ? mean : Math.min(MOST_ITEM_BYTES, Math.round(mean * 0.25 * 16 ** random()));
    const item: DynamoDbItem = {
      id: { S: `i${number}` },
      at: { N: String(10_000_000 + number) },
      shard: { N: String(shard) },
      pad: { S: padding(bytes) },
      chosen: { S: random() * oneIn < 1 ? 'yes' : 'no' },
    };
    items.push(item);
    index.put(item);
  }
  return { index, items };
}
