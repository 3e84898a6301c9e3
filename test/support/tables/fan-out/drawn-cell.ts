import { type DynamoDbItem, FanOutHistory, type FanOutRequest, fanOutQuery } from '../../../../lib/core';
import { itemBytes } from '../../../../lib/core/sharded-index/query/item-bytes';
import { seededRandom } from '../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../fakes/fake-index';
import { timeIndex } from './time-index';

/** One page, drawn from everything that DynamoDB allows. */
export interface DrawnCell {
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
export interface DrawnCost {
  cell: DrawnCell;
  items: number;
  units: number;
  /** What a reader would pay who knows beforehand which items the page has, each read rounded as DynamoDB rounds. */
  floor: number;
  /** What the first item of each shard costs that has none on the page, besides the block that every read costs. */
  heads: number;
  requests: number;
  waves: number;
}

const BLOCK_BYTES = 4_096;
/** So many items of an index are enough for a page; a drawn page that needs more is made smaller. */
const MOST_ITEMS = 40_000;

export function drawCell(seed: number): DrawnCell {
  const random = seededRandom(seed);
  const logarithmic = (least: number, most: number): number => Math.round(least * (most / least) ** random());
  const pick = <E>(...from: E[]): E => from[Math.floor(random() * from.length)]!;
  const shards = logarithmic(1, 1_000);
  const bytes = logarithmic(100, 400_000);
  const bounds = pick('limit', 'bytes', 'both');
  const oneIn = pick<1 | 10 | 1_000>(1, 1, 1, 10, 1_000);
  const limit = logarithmic(1, MOST_ITEMS / 2 / oneIn);
  return {
    seed,
    shards,
    limit: bounds === 'bytes' ? undefined : Math.max(1, limit),
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

/** Reads the page, on an index in memory that charges as DynamoDB does. */
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
  const bytesOf = new Map<number, number>();
  for (const item of read) bytesOf.set(shardOf(item), (bytesOf.get(shardOf(item)) ?? 0) + itemBytes(item));
  const blocks = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES));
  const headOf = new Map<number, DynamoDbItem>();
  for (const item of inOrder) if (!headOf.has(shardOf(item))) headOf.set(shardOf(item), item);
  let [floor, heads] = [0, 0];
  for (let shard = 0; shard < shards; shard++) {
    const bytes = bytesOf.get(shard);
    if (order === 'unordered' && cursor !== undefined && shard > shardOf(page.at(-1)!)) continue;
    floor += blocks(bytes ?? 0) / 2;
    const head = headOf.get(shard);
    if (bytes === undefined && head !== undefined) heads += (blocks(itemBytes(head)) - 1) / 2;
  }
  const { consumedReadUnits: units, requests, waves } = stats;
  return { cell, items: page.length, units, floor, heads, requests, waves };
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
  // Items of one size have one text between them, so that large ones fit into memory.
  const padding = (bytes: number): string => {
    const rounded = Math.max(40, Math.round(bytes / 10) * 10);
    const pad = paddings.get(rounded) ?? 'x'.repeat(rounded - 40);
    paddings.set(rounded, pad);
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
    const bytes = sizes === 'alike' ? mean : Math.min(400_000, Math.round(mean * 0.25 * 16 ** random()));
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
