import { ShardsUnavailableError } from '../../fan-out/fan-out-errors';
import { type FanOutStats, noCost } from '../../fan-out/fan-out-stats';
import { ItemSizes } from '../../fan-out/item-sizes';
import { type FanOutReadOptions, readPolicy } from '../../fan-out/read-policy';
import { ShardBuffer } from '../../fan-out/shard-buffer';
import { shardFlow } from '../../fan-out/shard-flow';
import { ShardRequests } from '../../fan-out/shard-requests';
import { InvalidArgumentError } from '../../kernel/errors';
import type { QueryClient } from '../client/query-client';
import { queryFailure } from '../client/query-failure';
import type { ShardedConfig, ShardedConfigSource } from '../config/sharded-index-config';
import { checkedRequest, withCurrentConfig } from './checked-request';
import type { FanOutRequest } from './fan-out-request';
import { indexShards } from './index-shard';
import { IndexShardReader, unreadShards } from './index-shard-reader';
import { ReadProgress } from './resume-point';

/** A request to count the items of a sharded index. */
export type FanOutCountRequest = Omit<FanOutRequest, 'order' | 'limit' | 'maxReadUnits' | 'projection'>;

/** The fields of a query that a count does not allow. */
const PAGE_FIELDS: readonly Exclude<keyof FanOutRequest, keyof FanOutCountRequest>[] = [
  'order',
  'limit',
  'maxReadUnits',
  'projection',
];

/** A count over all shards. */
export interface FanOutCount {
  /** The number of items, without the items of the missing shards. */
  count: number;
  /**
   * Pass the cursor with the same request to count the remaining items, and add the counts. Present only if the deadline ended
   * the count early. The cursor contains one key for each shard that was counted in part, at most `concurrency` keys.
   */
  cursor?: string;
  /** The shards that the query could not read, or could read only in part. Absent if the query read all shards. */
  missingShards?: number[];
  /**
   * The cost of the count. A count consumes as many read units as a query that returns the items, and saves only the transfer
   * of the items.
   */
  stats: FanOutStats;
}

/**
 * Counts the items that match a request, in all shards in parallel.
 *
 * To check whether any item exists, use `fanOutQuery` with `limit: 1` and `order: 'unordered'`. That query reads one shard
 * first, and reads another shard only if the first shard has no matching item.
 *
 * @param index the configuration that `ShardedIndex` emits, or an `AdaptiveIndex`
 * @throws InvalidArgumentError, or one of its subclasses, before anything is read, if the request, the options or the
 *   configuration are invalid
 * @throws the client's error if a shard cannot be read and `onShardFailure` is `fail`
 * @throws WrongOrderError if a response is not in order
 * @throws IndexNotReadyError while DynamoDB builds the index
 * @throws IndexNotFoundError if the index or the table does not exist
 * @throws QueryRejectedError if DynamoDB rejects an expression, or an operand of another type than the key
 * @throws ShardsUnavailableError if the deadline passed before the first response, or if no shard could be read
 */
export async function fanOutCount(
  client: QueryClient,
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutCountRequest,
  options: FanOutReadOptions = {},
): Promise<FanOutCount> {
  for (const field of PAGE_FIELDS) {
    const given = (request as FanOutRequest)[field];
    if (given !== undefined) throw new InvalidArgumentError(field, given, 'absent because a count includes all items');
  }
  const { cursor, ...rest } = request;
  const checked = checkedRequest(client, index, { ...rest, order: 'unordered' });
  const { query, policy } = await withCurrentConfig(checked, index, readPolicy(options));
  const { config, values } = query;
  const progress = ReadProgress.decode('cursor', cursor, config, rest, 'count');
  const shards = indexShards(config, values);
  const buffers = unreadShards(query, shards, progress).map((reader) => {
    const counter = { shard: reader.shard, exhausted: reader.exhausted, read: reader.count.bind(reader) };
    return new ShardBuffer<number>(counter, query.order.afterAllShards);
  });
  const stats = noCost(shards.length);
  const requests = new ShardRequests(buffers, policy, { stats, sizes: new ItemSizes(), failureOf: queryFailure });
  let count = 0;
  let hasResponse = false;
  let expired: ShardsUnavailableError | undefined;
  const bounds = { width: policy.concurrency, limit: Number.MAX_SAFE_INTEGER, isNew: () => true };
  stats.waves = 1;
  try {
    for await (const { shard, items, next, missing } of shardFlow(buffers, bounds, requests)) {
      hasResponse ||= !missing;
      for (const counted of items) count += counted;
      const lastKey = IndexShardReader.lastKeyOf(next);
      if (lastKey !== undefined) progress.readTo(shard, lastKey);
      else progress.finish(shard);
    }
  } catch (error) {
    if (!(error instanceof ShardsUnavailableError)) throw error;
    expired = error;
  } finally {
    requests.close();
  }
  const missingShards = buffers.filter(({ missing }) => missing).map(({ shard }) => shard);
  const unread = expired?.shards.some((shard) => !missingShards.includes(shard));
  if (expired !== undefined && !hasResponse) throw expired;
  return {
    count,
    ...(unread && { cursor: progress.encode(config, rest, 'count', shards) }),
    ...(missingShards.length > 0 && { missingShards }),
    stats,
  };
}
