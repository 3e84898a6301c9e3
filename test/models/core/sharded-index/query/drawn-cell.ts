import { type DynamoDbItem, FanOutHistory, type FanOutRequest, fanOutQuery } from '../../../../../lib/core';
import { ItemSizes } from '../../../../../lib/core/fan-out/item-sizes';
import { readSize } from '../../../../../lib/core/fan-out/read-size';
import { itemBytes } from '../../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

/** A page with random settings within the limits of DynamoDB. */
interface DrawnCell {
  seed: number;
  shards: number;
  limit: number | undefined;
  maxPageBytes: number | undefined;
  itemBytes: number;
  sizes: 'alike' | 'mixed';
  layout: 'uniform' | 'skewed' | 'runs';
  order: NonNullable<FanOutRequest['order']>;
  /** Whether a condition excludes the first half of the items. */
  half: boolean;
  /** On average, one in this number of items passes the filter. */
  oneIn: 1 | 10 | 1_000;
  warm: boolean;
}

/** The cost of the page. */
interface DrawnCost {
  cell: DrawnCell;
  items: number;
  units: number;
  /** The read units for only the items of the page, if each read is rounded up as DynamoDB does. */
  floor: number;
  /**
   * For each shard without an item on the page: the additional cost of its first item, if this item is larger than one block.
   * Without an order, this includes as many shards after the end of the page as before it. The last wave may read these shards
   * although the page does not need them.
   */
  heads: number;
  /** The cost of the first wave if the query does not know item sizes and assumes one block for each item. */
  unknown: number;
  /** The cost if every shard returns five times the items of the shard with the most items on the page. */
  evenly: number;
}

const BLOCK_BYTES = 4_096;
/** Source: the DynamoDB developer guide, "Quotas": 400 KB. */
const MAX_ITEM_BYTES = 400_000;
const MAX_SHARDS = 1_000;
/** The largest random page limit. */
const MAX_LIMIT = 100_000;
/** The maximum number of items in an index. A page with a larger limit ends at the end of the index. */
const MAX_ITEMS = 130_000;

export function drawCell(seed: number): DrawnCell {
  const random = seededRandom(seed);
  const logarithmic = (least: number, most: number): number => Math.round(least * (most / least) ** random());
  const pick = <E>(...from: E[]): E => from[Math.floor(random() * from.length)]!;
  const shards = logarithmic(1, MAX_SHARDS);
  const bytes = logarithmic(100, MAX_ITEM_BYTES);
  const bounds = pick('limit', 'bytes', 'both');
  const oneIn = pick<1 | 10 | 1_000>(1, 1, 1, 10, 1_000);
  const limit = logarithmic(1, MAX_LIMIT);
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

/** The largest cost of a page, as a multiple of the floor. */
export const MAX_FLOORS = 2.5;

/** With a filter, a read can request up to four times the items of the previous reads of its shard. */
const MAX_GROWTH = 4;

/** The largest cost of a page that docs/decisions/0049 allows, in read units. */
export function boundOf({ cell: { oneIn, order }, floor, heads, unknown, evenly }: DrawnCost): number {
  if (oneIn === 1) return MAX_FLOORS * (floor + heads) + unknown;
  const grown = (1 + MAX_GROWTH) * (floor + heads) + unknown;
  return order === 'unordered' ? grown : Math.max(grown, evenly);
}

/** Reads the page from an index in memory that charges read units as DynamoDB does. */
export async function drawnCost(cell: DrawnCell): Promise<DrawnCost> {
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
  const queried = Math.min(shards, order === 'unordered' ? 2 * (lastShard + 1) + 1 : shards);
  const share = sharesOf(cell);
  const behind = queried - lastShard - 1;
  const ahead = behind > 0 ? Math.ceil(page.length / behind) : 1;
  const mostRead = Math.max(...countBy(read.map(shardOf)).values());
  let [floor, heads, unknown, evenly] = [0, 0, 0, 0];
  for (let shard = 0; shard < queried; shard++) {
    const bytes = bytesOf.get(shard);
    const least = shard > lastShard ? 0 : blocks(bytes ?? 0);
    const ofShard = inShard[shard]!;
    floor += least / 2;
    if (bytes === undefined) heads += (answerBlocks(ofShard.slice(0, ahead)) - least) / 2;
    evenly += answersBlocks(ofShard.slice(0, (1 + MAX_GROWTH) * mostRead)) / 2;
    if (!cell.warm && (order !== 'unordered' || shard <= lastShard))
      unknown += answerBlocks(ofShard.slice(0, share)) / 2;
  }
  return { cell, items: page.length, units: stats.consumedReadUnits, floor, heads, unknown, evenly };
}

const blocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES));

function countBy(numbers: readonly number[]): Map<number, number> {
  const counts = new Map([[-1, 0]]);
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return counts;
}

/** The cost of these items in one or more responses. The cost of each response is rounded up. */
function answersBlocks(items: readonly DynamoDbItem[]): number {
  const bytes = items.reduce((sum, item) => sum + itemBytes(item), 0);
  return blocks(bytes) + items.length;
}

/** The cost of one response with these items. A response ends at one megabyte. */
function answerBlocks(items: readonly DynamoDbItem[]): number {
  let bytes = 0;
  for (const item of items) {
    bytes += itemBytes(item);
    if (bytes > 2 ** 20) break;
  }
  return blocks(bytes);
}

/** The size of the first read of each shard if the query assumes one block for each item. */
function sharesOf({ shards, limit, maxPageBytes, order }: DrawnCell): number {
  const inBytes = maxPageBytes === undefined ? Number.POSITIVE_INFINITY : Math.ceil(maxPageBytes / BLOCK_BYTES);
  const expected = Math.min(limit ?? Number.POSITIVE_INFINITY, inBytes);
  return readSize(expected, order === 'unordered' ? 1 : shards, new ItemSizes());
}

function shardOf({ shard }: DynamoDbItem): number {
  return Number((shard as { N: string }).N);
}

/** The items up to the last item of a page. */
function upTo(inOrder: DynamoDbItem[], last: DynamoDbItem, order: string): DynamoDbItem[] {
  const at = inOrder.findIndex(({ id }) => (id as { S: string }).S === (last.id as { S: string }).S);
  if (order !== 'unordered') return inOrder.slice(0, at + 1);
  return inOrder.filter((item, number) =>
    shardOf(item) === shardOf(last) ? number <= at : shardOf(item) < shardOf(last),
  );
}

/** An index with enough items for the page and a quarter more. */
function filled({ seed, shards, limit, maxPageBytes, itemBytes: mean, sizes, layout, oneIn, half }: DrawnCell) {
  const random = seededRandom(seed + 1);
  const onPage = Math.min(limit ?? Number.POSITIVE_INFINITY, (maxPageBytes ?? Number.POSITIVE_INFINITY) / mean);
  const needed = (onPage * oneIn * 1.25 + 3 * shards) * (half ? 2 : 1);
  const count = Math.ceil(Math.min(MAX_ITEMS, needed));
  const index = new FakeIndex(timeIndex(shards));
  const paddings = new Map<number, string>();
  // Items of similar size share one padding text, so that many large items fit into memory.
  const padding = (bytes: number): string => {
    const step = Math.round(100 * Math.log(Math.max(80, bytes)));
    const pad = paddings.get(step) ?? 'x'.repeat(Math.min(MAX_ITEM_BYTES, Math.exp(step / 100)) - 60);
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
    const bytes = sizes === 'alike' ? mean : Math.min(MAX_ITEM_BYTES, Math.round(mean * 0.25 * 16 ** random()));
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
