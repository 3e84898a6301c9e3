import type { DynamoDbItem } from '../foundation/attribute-value';
import type { FanOutStats } from '../foundation/fan-out/fan-out-stats';
import { ItemSizes } from '../foundation/fan-out/item-sizes';
import type { PageBounds } from '../foundation/fan-out/page-in-progress';
import { type FanOutReadOptions, readPolicy } from '../foundation/fan-out/read-policy';
import { gatherPage } from '../foundation/fan-out/scatter-gather';
import { decodeCursor, encodeCursor } from './cursor';
import { checkFanOutRequest, type FanOutRequest } from './fan-out-request';
import { IndexShardReader } from './index-shard-reader';
import { positionOrder } from './position-order';
import { projectedItem } from './projected-item';
import type { QueryClient } from './query-client';
import { queryFailure } from './query-failure';
import { checkShardedIndexConfig, type ShardedIndexConfig, shardCountOf } from './sharded-index-config';
import { tableKeyIdentity } from './table-key-identity';

/** One page of the answer over all shards. */
export interface FanOutPage {
  items: DynamoDbItem[];
  /** Give it to the same query for the next page. Absent when nothing can follow; that page may turn out empty. */
  cursor?: string;
  /**
   * Shards that could not be read, in part or at all; absent if all were. Their items are missing from this page, and
   * the cursor goes on behind this page's last item: to have them, ask for this page again.
   */
  missingShards?: number[];
  stats: FanOutStats;
}

/** Bounds that come from where the page goes, and how shards are asked. */
export interface FanOutOptions extends FanOutReadOptions {
  /**
   * Ends the page before its items take more than this many bytes, as `itemBytes` counts them.
   * A page holds one item at least.
   * @default no bound
   */
  maxPageBytes?: number;
  /** @default the length of the item's JSON in UTF-8 */
  itemBytes?(item: DynamoDbItem): number;
}

/**
 * Reads one page from all shards of an index, in one global order.
 *
 * The items come by sort key, then by shard, then as DynamoDB keeps them within a shard. The page's cursor continues
 * behind its last item whatever was written or deleted since, and whatever became of the shard count.
 *
 * @throws a typed error before anything is read if the request, the options or the configuration are invalid; what the
 *   client throws if a shard cannot be read; ShardsUnavailableError if the deadline came before the first items were
 *   certain
 */
export async function fanOutQuery(
  client: QueryClient,
  config: ShardedIndexConfig,
  request: FanOutRequest,
  options: FanOutOptions = {},
): Promise<FanOutPage> {
  checkShardedIndexConfig(config);
  checkFanOutRequest(config, request);
  const policy = readPolicy(options);
  const cursor = decodeCursor(config, request);
  const order = positionOrder(request.order ?? 'ascending', config.sortKeyAttributes);
  const shards = shardCountOf(config, request.value).read;
  const sizes = options.history?.sizesOf(config.indexName, cursor?.sizes) ?? cursor?.sizes ?? new ItemSizes();
  const query = { client, config, request, order, cursor };
  const { positions, end, missingShards, stats } = await gatherPage(
    Array.from({ length: shards }, (_, shard) => new IndexShardReader(query, shard)),
    { order, shardByShard: request.order === 'unordered', sizes, failureOf: queryFailure },
    boundsOf(config, request, options, shards, sizes),
    policy,
  );
  return {
    items: positions.map(({ item }) => projectedItem(item, request.projection)),
    ...(end === undefined ? {} : { cursor: encodeCursor(config, request, end, sizes) }),
    ...(missingShards.length > 0 ? { missingShards } : {}),
    stats,
  };
}

/** What each shard is taken to give to a page that is bounded by bytes alone, until sizes are known. */
const UNSIZED_SHARE = 100;

/** When the page ends, and what it holds once. */
function boundsOf(
  config: ShardedIndexConfig,
  { limit, projection }: FanOutRequest,
  { maxPageBytes, itemBytes = jsonBytes }: FanOutOptions,
  shards: number,
  sizes: ItemSizes,
): PageBounds<DynamoDbItem> {
  const identityOf = tableKeyIdentity(config.tableKey);
  if (maxPageBytes === undefined) return { limit, identityOf };
  let bytes = 0;
  return {
    limit,
    identityOf,
    fits: ({ item }) => {
      bytes += itemBytes(projectedItem(item, projection));
      return bytes <= maxPageBytes;
    },
    roughly: () => (sizes.mean === undefined ? UNSIZED_SHARE * shards : Math.ceil(maxPageBytes / sizes.mean)),
  };
}

function jsonBytes(item: DynamoDbItem): number {
  return Buffer.byteLength(JSON.stringify(item));
}
