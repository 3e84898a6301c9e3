import type { DynamoDbItem } from '../../aws-client/attribute-value';
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
import { atTheMoment, type CheckedRequest, checkedRequest } from './checked-request';
import { positionAttributes } from './cursor';
import type { FanOutRequest } from './fan-out-request';
import { type IndexShard, indexShards } from './index-shard';
import { IndexShardReader } from './index-shard-reader';
import { projectedItem } from './projected-item';
import { ReadProgress } from './resume-point';

/**
 * What to stream from a sharded index: a request without an order and without a cursor. `limit` bounds all items
 * together.
 */
export interface FanOutItemsRequest extends Omit<FanOutRequest, 'order' | 'cursor' | 'maxReadUnits'> {
  /**
   * The `resumePoint` of an earlier stream of the same request and segment. The stream goes on behind it.
   * @default the begin
   */
  resumeAt?: string;
  /**
   * Which of `totalSegments` parts of the shards to read, from 0. Several workers with a segment each read everything
   * once.
   * @default 0
   */
  segment?: number;
  /**
   * How many parts the shards are divided into, from 1 to 10,000. More segments than shards leave some without items.
   * @default 1
   */
  totalSegments?: number;
}

/** A stream of items. */
export interface FanOutItemStream extends AsyncGenerator<DynamoDbItem, void, undefined> {
  /** The cost of what was read so far. */
  readonly stats: Readonly<FanOutStats>;
  /**
   * Where the stream goes on behind the last item that the consumer has taken: pass it as `resumeAt`. It stays valid when
   * shard counts change. It holds one key for each shard that was read in part, at most as many as `concurrency`.
   * Undefined after everything was taken.
   */
  readonly resumePoint: string | undefined;
}

/** The table keys of so many items are kept to recognise an item that is read twice. Usual keys take 10 to 20 MB. */
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
 * `onShardFailure: 'partial'` the stream returns the items of the other shards first and then throws. After a failure,
 * `resumePoint` says where another stream goes on.
 *
 * @throws InvalidArgumentError, or one of its subclasses, from the call itself, if the request, the options or the
 *   configuration are invalid
 * @throws the client's error, while streaming, if a shard cannot be read and `onShardFailure` is `fail`
 * @throws WrongOrderError if a response is not in order; IndexNotReadyError while DynamoDB builds the index; IndexNotFoundError if
 *   the table does not have it
 * @throws ShardsUnavailableError, while streaming, at the deadline or after a partial read; it names the shards that
 *   were not read to their end
 */
export function fanOutItems(
  client: QueryClient,
  index: ShardedConfig | ShardedConfigSource,
  request: FanOutItemsRequest,
  options: FanOutReadOptions = {},
): FanOutItemStream {
  const { order, cursor, maxReadUnits }: FanOutRequest = request;
  if (order !== undefined)
    throw new InvalidArgumentError('order', order, 'absent because items come in the order in which they arrive');
  if (cursor !== undefined) throw new InvalidArgumentError('cursor', cursor, 'absent because a stream has no pages');
  if (maxReadUnits !== undefined) {
    throw new InvalidArgumentError(
      'maxReadUnits',
      maxReadUnits,
      'absent because a stream reads on: leave the loop to end it',
    );
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
    const { query, policy } = await atTheMoment(checked, index, checkedPolicy);
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
  const { config, request, order, select } = query;
  const buffers = shards
    .filter((shard) => !progress.isFinished(shard))
    .map((shard) => {
      const piece = { ...select, repeats: 0, startKey: progress.keyOf(shard) };
      return new ShardBuffer(new IndexShardReader(query, shard, [piece]), order.behindAllShards);
    });
  const sizes = policy.history?.sizesOf(storePath(config)) ?? new ItemSizes();
  const requests = new ShardRequests(buffers, policy, { stats, sizes, failureOf: queryFailure });
  const { limit = Number.MAX_SAFE_INTEGER, projection } = request;
  const bounds = { width: policy.concurrency, limit, isNew: notSeenLately(itemIdentity(config)) };
  const names = positionAttributes(config);
  let wanted = limit;
  stats.waves = 1;
  try {
    for await (const { shard, items, next, missing } of shardFlow(buffers, bounds, requests)) {
      wanted -= items.length;
      for (const item of items) {
        progress.readTo(shard, Object.fromEntries(names.map((name) => [name, item[name]!])));
        yield projectedItem(item, projection);
      }
      // If the limit cuts an answer short, the stream goes on after the last item that was taken.
      if (wanted === 0) break;
      const lastKey = IndexShardReader.lastKeyOf(next);
      if (lastKey !== undefined) progress.readTo(shard, lastKey);
      else if (!missing) progress.finish(shard);
    }
  } finally {
    requests.close();
  }
}

/** Whether an item is not among the last items. Two items are the same if they have the same identity. */
function notSeenLately(identityOf: (item: DynamoDbItem) => string): (item: DynamoDbItem) => boolean {
  const recent = new RecentMap<string, true>(RECENT_KEYS);
  return (item) => {
    const identity = identityOf(item);
    if (recent.get(identity)) return false;
    recent.set(identity, true);
    return true;
  };
}
