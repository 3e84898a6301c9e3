import type { DynamoDbItem } from '../foundation/attribute-value';
import { InvalidArgumentError } from '../foundation/errors';
import { noCost } from '../foundation/fan-out/fan-out-stats';
import { ItemSizes } from '../foundation/fan-out/item-sizes';
import { type FanOutReadOptions, type ReadPolicy, readPolicy } from '../foundation/fan-out/read-policy';
import { ShardBuffer } from '../foundation/fan-out/shard-buffer';
import { shardFlow } from '../foundation/fan-out/shard-flow';
import { ShardRequests } from '../foundation/fan-out/shard-requests';
import type { FanOutRequest } from './fan-out-request';
import { indexQuery } from './index-query';
import type { IndexQuery, IndexShardReader } from './index-shard-reader';
import { projectedItem } from './projected-item';
import type { QueryClient } from './query-client';
import { queryFailure } from './query-failure';
import { indexPath, type ShardedIndexConfig } from './sharded-index-config';
import { tableKeyIdentity } from './table-key-identity';

/**
 * What to stream from a sharded index: a request without an order and without a cursor. `limit` bounds all items
 * together.
 */
export type FanOutItemsRequest = Omit<FanOutRequest, 'order' | 'cursor'>;

/**
 * The table keys of at least so many items, and of at most twice as many, are kept to recognise an item that is read
 * twice. Usual keys take 10 to 20 MB.
 */
const RECENT_KEYS = 100_000;

/**
 * Streams the items of all shards of an index as their pages arrive, in no order. Use it to read a whole index, or much
 * of it, as fast as the consumer can take the items. To show pages, or to read a few items, use `fanOutQuery`.
 *
 *     for await (const item of fanOutItems(client, config, { value: 'failed' })) await handle(item);
 *
 * The stream reads up to `concurrency` shards at once, and reads on only as the consumer takes items. It holds at most
 * `concurrency` + 1 pages of DynamoDB, of up to 1 MB each. It reads nothing before the consumer asks for the first
 * item. When the consumer leaves the loop, the stream aborts the requests in flight.
 *
 * An item that stays in its shard comes exactly once. An item that moves to another shard while the stream runs can be
 * read twice. The stream then recognises it by its table key and leaves it out, if fewer than 100,000 other items came
 * between the two reads; otherwise the item comes twice. The stream misses an item that moves from a part that is still
 * to be read to a part that was read already.
 *
 * `deadlineMs` is the time from the request for the first item to the last item; the consumer's time counts too. With
 * `onShardFailure: 'partial'` the stream returns the items of the other shards first and then throws.
 *
 * @throws InvalidArgumentError, or one of its subclasses, from the call itself, if the request, the options or the
 *   configuration are invalid
 * @throws the client's error, while streaming, if a shard cannot be read and `onShardFailure` is `fail`
 * @throws ShardsUnavailableError, while streaming, at the deadline or after a partial read; it names the shards that
 *   were not read to their end
 */
export function fanOutItems(
  client: QueryClient,
  config: ShardedIndexConfig,
  request: FanOutItemsRequest,
  options: FanOutReadOptions = {},
): AsyncGenerator<DynamoDbItem, void, undefined> {
  const { order, cursor }: FanOutRequest = request;
  if (order !== undefined)
    throw new InvalidArgumentError('order', order, 'absent because items come in the order in which they arrive');
  if (cursor !== undefined) throw new InvalidArgumentError('cursor', cursor, 'absent because a stream has no pages');
  const { query, readers } = indexQuery(client, config, { ...request, order: 'unordered' });
  return itemsOf(query, readers, readPolicy(options));
}

async function* itemsOf(
  { config, request, order }: IndexQuery,
  readers: readonly IndexShardReader[],
  policy: ReadPolicy,
): AsyncGenerator<DynamoDbItem, void, undefined> {
  const buffers = readers.map((reader) => new ShardBuffer(reader, order.behindAllShards));
  const sizes = policy.history?.sizesOf(indexPath(config)) ?? new ItemSizes();
  const requests = new ShardRequests(buffers, policy, {
    stats: noCost(buffers.length),
    sizes,
    failureOf: queryFailure,
  });
  const { limit = Number.MAX_SAFE_INTEGER, projection } = request;
  const bounds = { width: policy.concurrency, limit, isNew: notSeenLately(tableKeyIdentity(config.tableKey)) };
  try {
    for await (const items of shardFlow(buffers, bounds, requests)) {
      for (const item of items) yield projectedItem(item, projection);
    }
  } finally {
    requests.close();
  }
}

/** Whether an item is not among the last items. Two items are the same if they have the same identity. */
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
