import type { DynamoDbItem } from '../foundation/attribute-value';
import { InvalidArgumentError } from '../foundation/errors';
import { noCost } from '../foundation/fan-out/fan-out-stats';
import { ItemSizes } from '../foundation/fan-out/item-sizes';
import { type FanOutReadOptions, type ReadPolicy, readPolicy } from '../foundation/fan-out/read-policy';
import { ShardBuffer } from '../foundation/fan-out/shard-buffer';
import { shardFlow } from '../foundation/fan-out/shard-flow';
import { ShardRequests } from '../foundation/fan-out/shard-requests';
import { checkFanOutRequest, type FanOutRequest } from './fan-out-request';
import { IndexShardReader } from './index-shard-reader';
import { positionOrder } from './position-order';
import { projectedItem } from './projected-item';
import type { QueryClient } from './query-client';
import { queryFailure } from './query-failure';
import { checkShardedIndexConfig, type ShardedIndexConfig, shardCountOf } from './sharded-index-config';
import { tableKeyIdentity } from './table-key-identity';

/** What to stream from a sharded index: a query without an order, and so without a cursor. `limit` is that of all items. */
export type FanOutItemsRequest = Omit<FanOutRequest, 'order' | 'cursor'>;

/** The keys of so many items, and at most twice as many, are kept to tell what comes again: 10 to 20 MB for usual keys. */
const RECENT_KEYS = 100_000;

/**
 * Streams the items of all shards of an index as their pages arrive, in no order: for reading everything, or a lot of it,
 * as fast as the consumer goes. To show pages, or for a few items, use `fanOutQuery`.
 *
 * Up to `concurrency` shards are read at once, and read on only as items are taken; so many service pages, of up to 1 MB
 * each, and one more are held. Leaving the loop gives up what is under way; nothing is read before the first item is
 * asked for.
 *
 * Items that stay in their shard come exactly once. One that moves to another shard meanwhile can be read twice: it is left
 * out, told by its table key, if fewer than 100,000 other items came between, and otherwise comes twice. It is missed if
 * it moves from where is still to be read to where has been.
 *
 * `deadlineMs` counts from the first item asked for to the last, the consumer's time included. With `onShardFailure:
 * 'partial'` the items of the other shards still come, and then the error.
 *
 * @throws a typed error, at once, if the request, the options or the configuration are invalid. While streaming: what the
 *   client throws if a shard cannot be read; ShardsUnavailableError, naming the shards that were not read to their end,
 *   at the deadline or after a partial read
 */
export function fanOutItems(
  client: QueryClient,
  config: ShardedIndexConfig,
  request: FanOutItemsRequest,
  options: FanOutReadOptions = {},
): AsyncGenerator<DynamoDbItem, void, undefined> {
  checkShardedIndexConfig(config);
  checkFanOutRequest(config, request);
  const { order, cursor }: FanOutRequest = request;
  if (order !== undefined) throw new InvalidArgumentError('order', order, 'absent: items come as they arrive');
  if (cursor !== undefined) throw new InvalidArgumentError('cursor', cursor, 'absent: a stream has no pages');
  return itemsOf(client, config, request, readPolicy(options));
}

async function* itemsOf(
  client: QueryClient,
  config: ShardedIndexConfig,
  request: FanOutItemsRequest,
  policy: ReadPolicy,
): AsyncGenerator<DynamoDbItem, void, undefined> {
  const order = positionOrder('unordered', config.sortKeyAttributes);
  const query = { client, config, request, order, cursor: undefined };
  const streams = Array.from(
    { length: shardCountOf(config, request.value).read },
    (_, shard) => new ShardBuffer(new IndexShardReader(query, shard), order.behindAllShards),
  );
  const sizes = policy.history?.sizesOf(config.indexName) ?? new ItemSizes();
  const requests = new ShardRequests(streams, policy, {
    stats: noCost(streams.length),
    sizes,
    failureOf: queryFailure,
  });
  const { limit = Number.MAX_SAFE_INTEGER, projection } = request;
  const bounds = { width: policy.concurrency, limit, isNew: notSeenLately(tableKeyIdentity(config.tableKey)) };
  try {
    for await (const items of shardFlow(streams, bounds, requests)) {
      for (const item of items) yield projectedItem(item, projection);
    }
  } finally {
    requests.close();
  }
}

/** Whether an item is none of the last ones, told by its identity. */
function notSeenLately(identityOf: (item: DynamoDbItem) => string): (item: DynamoDbItem) => boolean {
  let recent = new Set<string>();
  let older = new Set<string>();
  return (item) => {
    const identity = identityOf(item);
    if (recent.has(identity) || older.has(identity)) return false;
    recent.add(identity);
    if (recent.size === RECENT_KEYS) {
      older = recent;
      recent = new Set();
    }
    return true;
  };
}
