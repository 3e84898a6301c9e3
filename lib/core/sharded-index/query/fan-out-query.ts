import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { FanOutStats } from '../../fan-out/fan-out-stats';
import { ItemSizes } from '../../fan-out/item-sizes';
import { byteBounds, checkPageBytes, type PageBytes } from '../../fan-out/page-bytes';
import type { PageBounds } from '../../fan-out/page-in-progress';
import { type FanOutReadOptions, readPolicy } from '../../fan-out/read-policy';
import { gatherPage } from '../../fan-out/scatter-gather';
import type { QueryClient } from '../client/query-client';
import { queryFailure } from '../client/query-failure';
import { itemIdentity } from '../config/item-identity';
import { type ShardedConfig, type ShardedConfigSource, storePath } from '../config/sharded-index-config';
import { checkedRequest, withCurrentConfig } from './checked-request';
import { encodeCursor } from './cursor';
import { tiesBefore } from './cursor-ties';
import type { FanOutRequest } from './fan-out-request';
import { indexReaders, projectedItem } from './index-shard-reader';

/** One page of a query over all shards. */
export interface FanOutPage {
  /** The items of the page, in the order of the query, as attribute values of DynamoDB. */
  items: DynamoDbItem[];
  /**
   * Pass the cursor with the same query to read the next page. Absent if this page is the last page. The next page can be
   * empty.
   */
  cursor?: string;
  /**
   * The 0-based numbers of the shards that the query could not read, or could read only in part. With `values`, the
   * numbers grow by 10,000 with each value: shard 2 of the second value has the number 10,002. Absent if the query read
   * all shards. The items of these shards are missing from this page, and the next page does not return them. To get
   * the missing items, request this page again.
   */
  missingShards?: number[];
  /** The cost of this page. */
  stats: FanOutStats;
}

/** The size of a page, and how the query reads its shards. */
export interface FanOutOptions extends FanOutReadOptions {
  /**
   * The maximum size of the items of a page as JSON in UTF-8, in bytes, at least 1. The page ends before the first item that
   * would exceed this bound. A page that is not empty always contains at least one item, even if that item is larger than the
   * bound.
   * @default no bound
   */
  maxPageBytes?: number;
}

/**
 * Reads one page from all shards of an index, in one global order. Use this function to show pages, or to read the first items.
 * To read a whole index in any order, use `fanOutItems`.
 *
 * Items are ordered by their sort key, then by their shard, then in DynamoDB's order within the shard. The next page begins
 * after the last item of this page, even if items are written or deleted between the two requests, or the shard count changes.
 *
 * An ordered page needs 1.5 times the memory of its items. The page also needs up to 1 MB per request in flight, and at most 1
 * kB per shard. The query drops items that it read beyond the end of the page. Bound a page by `limit`, by `maxPageBytes`, or
 * by both.
 *
 * @param client the client that sends the requests; create the client with `maxAttempts: 1`, because this function retries
 *   failed requests itself
 * @param index the configuration that `ShardedIndex` emits, or an `AdaptiveIndex`
 * @returns the items, the cursor unless this is the last page, and the cost
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the request, the options or the
 *   configuration are invalid
 * @throws InvalidCursorError if the cursor was altered or belongs to another query
 * @throws the client's error if a shard cannot be read and `onShardFailure` is `fail`
 * @throws ShardsUnavailableError if the deadline passed before the query knew the first item of the page, or if no shard could
 *   be read
 * @throws WrongOrderError if a response is not in order
 * @throws IndexNotReadyError while DynamoDB builds the index
 * @throws IndexNotFoundError if the index or the table does not exist
 * @throws QueryRejectedError if DynamoDB rejects an expression, or an operand of another type than the key
 */
export async function fanOutQuery(
  client: QueryClient,
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutRequest,
  options: FanOutOptions = {},
): Promise<FanOutPage> {
  const checked = checkedRequest(client, index, request);
  const checkedPolicy = readPolicy(options);
  checkPageBytes(options.maxPageBytes);
  const { query, policy } = await withCurrentConfig(checked, index, checkedPolicy);
  const { config, order, cursor, shardByShard } = query;
  const { readers, leading } = indexReaders(query);
  const sizes = policy.history?.sizesOf(storePath(config), cursor?.sizes) ?? cursor?.sizes ?? new ItemSizes();
  const filtered = request.filterExpression !== undefined;
  const page = await gatherPage(
    readers,
    {
      order,
      shardByShard,
      leading,
      sizes,
      maxReadUnits: request.maxReadUnits,
      unitsOfBlock: request.consistentRead ? 1 : 0.5,
      hides: filtered,
      failureOf: queryFailure,
    },
    { ...boundsOf(config, request, options, sizes), stretchBefore: cursor?.stretch },
    policy,
  );
  const { positions, end, missingShards, stretch, stats } = page;
  const ties = shardByShard ? [] : tiesBefore(config.sortKeyAttributes, page, cursor, filtered);
  return {
    items: positions.map(({ item }) => projectedItem(item, request.projection)),
    ...(end === undefined ? {} : { cursor: encodeCursor(config, request, end, ties, { sizes, stretch }) }),
    ...(missingShards.length > 0 ? { missingShards } : {}),
    stats,
  };
}

/** The bounds of the page, and the function that computes the identity of an item to find duplicates. */
function boundsOf(
  config: ShardedConfig,
  { limit, projection }: FanOutRequest,
  { maxPageBytes, bytesOf = jsonBytes }: PageBytes<DynamoDbItem>,
  sizes: ItemSizes,
): PageBounds<DynamoDbItem> {
  const identityOf = itemIdentity(config);
  if (maxPageBytes === undefined) return { limit, identityOf };
  const measure = (item: DynamoDbItem): number => bytesOf(projectedItem(item, projection));
  return { limit, identityOf, ...byteBounds(maxPageBytes, measure, sizes) };
}

function jsonBytes(item: DynamoDbItem): number {
  return Buffer.byteLength(JSON.stringify(item));
}
