import { ShardsUnavailableError } from './fan-out-errors';
import { evaluatedFor } from './read-size';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';

/** How many items a flow returns, and how many shards it reads in parallel. */
interface FlowBounds<T> {
  /** The maximum number of shards with a page that is in flight or not yet returned. */
  width: number;
  /** The maximum number of items to return. The consumer must leave the loop after this number of items. */
  limit: number;
  isNew(item: T): boolean;
}

interface FlowPage<T> {
  shard: number;
  items: T[];
  /**
   * The position after these items. Undefined if these items are the last items of the shard, or if the query could not
   * continue to read the shard.
   */
  next: unknown;
  /** Whether the query gave up reading the shard. */
  missing: boolean;
}

/**
 * Returns the items of all shards page by page, as the pages arrive. The flow finishes the shards that it has begun before it
 * begins other shards, so at most `width` shards are read in part.
 *
 * The flow reads the next page of a shard only after the consumer has taken the previous page. So the flow holds at most
 * `width` pages, and the page that the consumer processes. The reads together request at most the remaining items.
 *
 * @throws ShardsUnavailableError after the last item, if a shard was not read completely
 */
export async function* shardFlow<T>(
  buffers: readonly ShardBuffer<T>[],
  { width, limit, isNew }: FlowBounds<T>,
  requests: ShardRequests<T>,
): AsyncGenerator<FlowPage<T>, void, undefined> {
  const idle = buffers.filter(({ readable }) => readable);
  const inFlight = new Map<ShardBuffer<T>, Promise<{ buffer: ShardBuffer<T>; share: number }>>();
  let remaining = limit;
  let requested = 0;
  const readIdle = (): void => {
    // Each read requests a share of the remaining items, and all shares together are the remaining items.
    for (let slots = width - inFlight.size; idle.length > 0 && remaining > requested; slots--) {
      const share = Math.ceil((remaining - requested) / Math.min(slots, idle.length));
      const buffer = idle.shift()!;
      const arrival = requests.fill({ buffer, limit: evaluatedFor(share, buffer) }).then(() => ({ buffer, share }));
      // The loop below throws the error.
      arrival.catch(() => undefined);
      inFlight.set(buffer, arrival);
      requested += share;
    }
  };
  readIdle();
  while (inFlight.size > 0) {
    const arrived = await requests.inTime(Promise.race(inFlight.values()));
    if (arrived === undefined) break;
    const { buffer, share } = arrived;
    inFlight.delete(buffer);
    requested -= share;
    const items = buffer.drain().filter(isNew).slice(0, remaining);
    remaining -= items.length;
    // Save the position now, because the next read of the shard may finish before the consumer takes these items.
    const next = buffer.readable ? buffer.nextRead : undefined;
    if (buffer.readable) idle.unshift(buffer);
    readIdle();
    yield { shard: buffer.shard, items, next, missing: buffer.missing };
  }
  const unread = buffers.filter(({ mayHaveMore, missing }) => mayHaveMore || missing);
  if (unread.length > 0) throw new ShardsUnavailableError(unread.map(({ shard }) => shard));
}
