import { checkedQueryClient } from '../client/checked-query-client';
import type { QueryClient } from '../client/query-client';
import { checkShardedConfig } from '../config/check-sharded-config';
import type { ShardedConfig } from '../config/sharded-index-config';
import { decodeCursor } from './cursor';
import { checkFanOutRequest, type FanOutRequest } from './fan-out-request';
import { type IndexShard, indexShards } from './index-shard';
import { type IndexQuery, IndexShardReader } from './index-shard-reader';
import { positionOrder } from './position-order';
import { piecesBehindTies, tiesBehind } from './shard-piece';
import { sortKeySelect } from './sort-key-select';

/** The readers of a query. */
interface IndexReaders {
  /** One for each shard. */
  readers: IndexShardReader[];
  /** If set, it reads, shard after shard, items that all come before those of `readers`. */
  leading?: IndexShardReader[];
}

/**
 * A checked query, and the readers of the shards that it reads.
 *
 * @throws InvalidArgumentError, or one of its subclasses, if the configuration or the request is invalid
 */
export function indexQuery(
  client: QueryClient,
  config: ShardedConfig,
  request: FanOutRequest,
): { query: IndexQuery } & IndexReaders {
  const checked = checkedQueryClient(client);
  checkShardedConfig(config);
  checkFanOutRequest(config, request);
  const select = sortKeySelect(config, request.sortKey);
  const { order = 'ascending' } = request;
  const { sortKeyAttributes } = config;
  const shards = indexShards(config, request);
  const query: IndexQuery = {
    client: checked,
    config,
    request,
    sortKeyAttributes,
    select,
    order: positionOrder(order, sortKeyAttributes),
    direction: order === 'descending' ? -1 : 1,
    shardByShard: order === 'unordered',
    cursor: decodeCursor(config, request),
  };
  return { query, ...readersOf(query, shards) };
}

/**
 * Among items with the same sort key, the order is that of the shards. So a page that begins within many of them reads
 * shard after shard: it needs the items of one shard or two, and not a share of each.
 */
function readersOf(query: IndexQuery, shards: readonly IndexShard[]): IndexReaders {
  const { cursor, request, direction } = query;
  const ties = cursor?.ties.at(-1) ?? 0;
  if (request.limit === undefined || ties < request.limit)
    return { readers: shards.map((shard) => new IndexShardReader(query, shard)) };
  const inOrder = direction === 1 ? shards : shards.toReversed();
  return {
    readers: shards.map((shard) => new IndexShardReader(query, shard, piecesBehindTies(query))),
    leading: inOrder.map((shard) => new IndexShardReader(query, shard, tiesBehind(query, shard.number))),
  };
}
