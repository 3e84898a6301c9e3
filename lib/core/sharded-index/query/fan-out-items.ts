import { attributesOf, type DynamoDbItem } from '../../aws-client/attribute-value';
import { type FanOutStats, noCost } from '../../fan-out/fan-out-stats';
import { ItemSizes } from '../../fan-out/item-sizes';
import { type FanOutReadOptions, type ReadPolicy, readPolicy } from '../../fan-out/read-policy';
import { ShardBuffer } from '../../fan-out/shard-buffer';
import { shardFlow } from '../../fan-out/shard-flow';
import { ShardRequests } from '../../fan-out/shard-requests';
import { checkWhole } from '../../kernel/checks';
import { InvalidArgumentError } from '../../kernel/errors';
import { RecentMap } from '../../kernel/recent-map';
import { checkIndexShardCount } from '../../sharding/shard-count';
import type { QueryClient } from '../client/query-client';
import { queryFailure } from '../client/query-failure';
import { itemIdentity } from '../config/item-identity';
import { type ShardedConfig, type ShardedConfigSource, storePath } from '../config/sharded-index-config';
import { type CheckedRequest, checkedRequest, withCurrentConfig } from './checked-request';
import { positionAttributes } from './cursor';
import type { FanOutRequest } from './fan-out-request';
import { type IndexShard, indexShards } from './index-shard';
import { IndexShardReader, projectedItem, unreadShards } from './index-shard-reader';
import { ReadProgress } from './resume-point';

/**
 * A request to stream items from a sharded index. The request has no order and no cursor. `limit` bounds the number of items of
 * the whole stream.
 */
export interface FanOutItemsRequest extends Omit<FanOutRequest, 'order' | 'cursor' | 'maxReadUnits'> {
  /**
   * The `resumePoint` of an earlier stream of the same request and segment. The stream continues after that point.
   * @default the stream begins with the first item
   */
  resumeAt?: string;
  /**
   * Which of the `totalSegments` parts of the shards to read, from 0. If each worker reads a different segment, the
   * workers together read every item once.
   * @default 0
   */
  segment?: number;
  /**
   * The number of parts into which the shards are divided, from 1 to 10,000. With more segments than shards, some
   * segments have no items.
   * @default 1
   */
  totalSegments?: number;
}

/** A stream of items. */
export interface FanOutItemStream extends AsyncGenerator<DynamoDbItem, void, undefined> {
  /** The cost of all requests until now. */
  readonly stats: Readonly<FanOutStats>;
  /**
   * The position after the last item that the consumer has received. Pass it as `resumeAt` to continue the stream there. The
   * resume point stays valid when shard counts change. It contains one key for each shard that was read in part, at most
   * `concurrency` keys. Undefined after the last item of the stream.
   */
  readonly resumePoint: string | undefined;
}

/**
 * The stream remembers the keys of this number of recent items, to recognise an item that it reads twice. The keys typically
 * take 10 to 20 MB.
 */
const RECENT_KEYS = 100_000;

/** The fields of a query that a stream does not allow, and the reasons. */
const NOT_OF_A_STREAM = {
  order: 'a stream is unordered',
  cursor: 'a stream has no pages',
  maxReadUnits: 'a stream has no bound on its cost (leave the loop to end it)',
};

/**
 * Streams the items of all shards of an index, unordered, as their pages arrive. Use this function to read a whole index, or a
 * large part of an index, as fast as the consumer can process the items. To show pages, or to read a few items, use
 * `fanOutQuery`.
 *
 *     for await (const item of fanOutItems(client, config, { value: 'failed' })) await handle(item);
 *
 * The stream reads up to `concurrency` shards in parallel, and sends requests only as fast as the consumer takes items. The
 * stream holds at most `concurrency` + 1 pages of DynamoDB, of up to 1 MB each. The first request is sent when the consumer
 * requests the first item. When the consumer leaves the loop, the stream aborts the requests in flight.
 *
 * The stream returns an item exactly once if the item stays in its shard. If an item moves to another shard while the stream
 * runs, the stream can read it twice. The stream then recognises the table key and skips the duplicate, unless 100,000 or more
 * other items came between the two reads. The stream misses an item that moves from an unread part of the index to a part that
 * was already read.
 *
 * `deadlineMs` bounds the time from the request for the first item until the last item, including the time that the consumer
 * takes to process the items. With `onShardFailure: 'partial'` the stream first returns the items of all shards that it can
 * read, and then throws. To continue after a failure, pass `resumePoint` to another stream.
 *
 * @throws InvalidArgumentError, or one of its subclasses, before streaming, if the request, the options or the configuration
 *   are invalid
 * @throws the client's error, while streaming, if a shard cannot be read and `onShardFailure` is `fail`
 * @throws WrongOrderError if a response is not in order
 * @throws IndexNotReadyError while DynamoDB builds the index
 * @throws IndexNotFoundError if the index or the table does not exist
 * @throws QueryRejectedError if DynamoDB rejects an expression, or an operand of another type than the key
 * @throws ShardsUnavailableError, while streaming, at the deadline or after a partial read; the error names the shards that
 *   were not read completely
 */
export function fanOutItems(
  client: QueryClient,
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutItemsRequest,
  options: FanOutReadOptions = {},
): FanOutItemStream {
  for (const [field, reason] of Object.entries(NOT_OF_A_STREAM)) {
    const given = (request as FanOutRequest)[field as keyof typeof NOT_OF_A_STREAM];
    if (given !== undefined) throw new InvalidArgumentError(field, given, `absent because ${reason}`);
  }
  const { resumeAt, segment = 0, totalSegments = 1, ...rest } = request;
  checkSegments(segment, totalSegments);
  const checked = checkedRequest(client, index, { ...rest, order: 'unordered' });
  const { config, values } = checked;
  const checkedPolicy = readPolicy(options);
  const part = ['items', segment, totalSegments];
  const progress = ReadProgress.decode('resumeAt', resumeAt, config, rest, part);
  const shardsOf = (now: ShardedConfig) =>
    indexShards(now, values).filter(({ number }) => number % totalSegments === segment);
  let shards = shardsOf(config);
  const stats = noCost(shards.length);
  let complete = false;
  async function* items(): AsyncGenerator<DynamoDbItem, void, undefined> {
    const { query, policy } = await withCurrentConfig(checked, index, checkedPolicy);
    shards = shardsOf(query.config);
    stats.shards = shards.length;
    yield* itemsOf(query, shards, progress, stats, policy);
    complete = shards.every((shard) => progress.isFinished(shard));
  }
  const stream = items();
  return Object.defineProperties(stream, {
    stats: { get: () => ({ ...stats }) },
    resumePoint: { get: () => (complete ? undefined : progress.encode(config, rest, part, shards)) },
  }) as FanOutItemStream;
}

function checkSegments(segment: unknown, totalSegments: number): void {
  checkIndexShardCount('totalSegments', totalSegments);
  checkWhole('segment', segment, 0, totalSegments - 1);
}

async function* itemsOf(
  query: CheckedRequest,
  shards: readonly IndexShard[],
  progress: ReadProgress,
  stats: FanOutStats,
  policy: ReadPolicy,
): AsyncGenerator<DynamoDbItem, void, undefined> {
  const { config, request, order } = query;
  const readers = unreadShards(query, shards, progress);
  const buffers = readers.map((reader) => new ShardBuffer(reader, order.afterAllShards));
  const sizes = policy.history?.sizesOf(storePath(config)) ?? new ItemSizes();
  const requests = new ShardRequests(buffers, policy, { stats, sizes, failureOf: queryFailure });
  const { limit = Number.MAX_SAFE_INTEGER, projection } = request;
  const bounds = { width: policy.concurrency, limit, isNew: newItemFilter(itemIdentity(config)) };
  const names = positionAttributes(config);
  let remaining = limit;
  stats.waves = 1;
  try {
    for await (const { shard, items, next, missing } of shardFlow(buffers, bounds, requests)) {
      remaining -= items.length;
      for (const item of items) {
        progress.readTo(shard, attributesOf(item, names));
        yield projectedItem(item, projection);
      }
      // If the limit ends the stream within a response, the resume point is the last item that the consumer received.
      if (remaining === 0) break;
      const lastKey = IndexShardReader.lastKeyOf(next);
      if (lastKey !== undefined) progress.readTo(shard, lastKey);
      else if (!missing) progress.finish(shard);
    }
  } finally {
    requests.close();
  }
}

/**
 * Returns a function that checks whether an item is new. An item is not new if one of the last `RECENT_KEYS` items has
 * the same identity.
 */
function newItemFilter(identityOf: (item: DynamoDbItem) => string): (item: DynamoDbItem) => boolean {
  const recent = new RecentMap<string, true>(RECENT_KEYS);
  return (item) => {
    const identity = identityOf(item);
    if (recent.get(identity)) return false;
    recent.set(identity, true);
    return true;
  };
}
