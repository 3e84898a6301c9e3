import { checkShardedIndexConfig, type ShardedIndexConfig, shardCountOf } from '../write-sharding/sharded-index-config';
import { decodeCursor, encodeCursor } from './cursor';
import { checkFanOutRequest, type FanOutRequest } from './fan-out-request';
import { IndexShardReader } from './index-shard-reader';
import { orderedMerge } from './ordered-merge';
import type { Item, QueryClient } from './query-client';
import { type FanOutStats, ShardStream } from './shard-stream';
import { shardWalk } from './shard-walk';
import { type Position, positionOrder } from './total-order';

/** One page of the answer over all shards. */
export interface FanOutPage {
  items: Item[];
  /** Give it to the same query for the next page. Absent when nothing can follow; that page may turn out empty. */
  cursor?: string;
  stats: FanOutStats;
}

/** Bounds that come from where the page goes, not from what is asked. */
export interface FanOutOptions {
  /**
   * Ends the page before its items take more than this many bytes, as `itemBytes` counts them.
   * A page holds one item at least.
   * @default no bound
   */
  maxPageBytes?: number;
  /** @default the length of the item's JSON in UTF-8 */
  itemBytes?(item: Item): number;
}

/**
 * Reads one page from all shards of an index, in one global order.
 *
 * The items come by sort key, then by shard, then as DynamoDB keeps them within a shard. The page's cursor continues
 * behind its last item whatever was written or deleted since, and whatever became of the shard count.
 *
 * @throws a typed error before anything is read if the request or the configuration is invalid; what the client throws
 *   if a shard cannot be read
 */
export async function fanOutQuery(
  client: QueryClient,
  config: ShardedIndexConfig,
  request: FanOutRequest,
  options: FanOutOptions = {},
): Promise<FanOutPage> {
  checkShardedIndexConfig(config);
  checkFanOutRequest(config, request);
  const cursor = decodeCursor(config, request);
  const order = request.order ?? 'ascending';
  const compare = positionOrder(order, config.sortKeyAttributes);
  const shards = shardCountOf(config, request.value).read;
  const query = { client, config, request, compare, cursor };
  const streams = Array.from({ length: shards }, (_, shard) => new ShardStream(new IndexShardReader(query, shard)));
  const stats: FanOutStats = { shards, requests: 0, waves: 0, itemsRead: 0, consumedReadUnits: 0 };
  const { limit } = request;
  const bounds = { limit, firstRead: firstReadOf(limit, shards, options), fits: fitsIn(request, options) };
  const { positions, more } =
    order === 'unordered'
      ? await shardWalk(streams, bounds, stats)
      : await orderedMerge(streams, compare, bounds, stats);
  const last = positions.at(-1);
  return {
    items: positions.map(({ item }) => project(item, request.projection)),
    ...(more && last !== undefined ? { cursor: encodeCursor(config, request, last) } : {}),
    stats,
  };
}

/** What a shard is asked for first when the page is bounded by bytes alone. */
const FIRST_READ_OF_BYTES = 100;

/**
 * What a shard is asked for first. A page of `limit` items takes its mean share of every shard, and two standard
 * deviations more make a second wave rare.
 */
function firstReadOf(limit: number | undefined, shards: number, { maxPageBytes }: FanOutOptions): number | undefined {
  if (limit === undefined) return maxPageBytes === undefined ? undefined : FIRST_READ_OF_BYTES;
  const share = limit / shards;
  return Math.ceil(share + 2 * Math.sqrt(share)) + 1;
}

/** Counts the bytes of the page as it is built. */
function fitsIn(
  { projection }: FanOutRequest,
  { maxPageBytes = Number.POSITIVE_INFINITY, itemBytes = jsonBytes }: FanOutOptions,
): (next: Position) => boolean {
  if (maxPageBytes === Number.POSITIVE_INFINITY) return () => true;
  let bytes = 0;
  return ({ item }) => {
    bytes += itemBytes(project(item, projection));
    return bytes <= maxPageBytes;
  };
}

function jsonBytes(item: Item): number {
  return Buffer.byteLength(JSON.stringify(item));
}

/** Drops the attributes that were read only to order the items. */
function project(item: Item, projection: string[] | undefined): Item {
  if (projection === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => projection.includes(attribute)));
}
