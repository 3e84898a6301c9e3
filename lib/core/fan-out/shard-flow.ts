import { ShardsUnavailableError } from './fan-out-errors';
import { evaluatedFor } from './read-size';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';

/** How many items a flow returns, and how many shards it reads at once. */
interface FlowBounds<T> {
  /** The most shards with a page that is being read, or that was read and not yet returned. */
  width: number;
  /** The most items that the flow returns. Whoever has them leaves it. */
  limit: number;
  isNew(item: T): boolean;
}

/** A page of one shard. */
interface FlowPage<T> {
  shard: number;
  items: T[];
  /** Where the shard goes on behind these items. Undefined if they are its last, or if it could not be read further. */
  next: unknown;
  /** Whether the shard was given up. */
  missing: boolean;
}

/**
 * Returns the items of all shards page by page, as the pages arrive. It finishes the
 * shards that it has begun before it begins others, so at most `width` shards are read in part.
 *
 * The flow reads the next page of a shard only after the consumer has taken the page before. So it holds at most
 * `width` pages and the one that the consumer works on, even for a slow consumer. Together the reads ask for no more
 * items than are still wanted.
 *
 * @throws ShardsUnavailableError after the last item, if the flow did not read every shard to its end
 */
export async function* shardFlow<T>(
  buffers: readonly ShardBuffer<T>[],
  { width, limit, isNew }: FlowBounds<T>,
  requests: ShardRequests<T>,
): AsyncGenerator<FlowPage<T>, void, undefined> {
  const idle = buffers.filter(({ readable }) => readable);
  const inFlight = new Map<ShardBuffer<T>, Promise<{ buffer: ShardBuffer<T>; share: number }>>();
  let wanted = limit;
  let asked = 0;
  const readOn = (): void => {
    // The last slot is asked for all that is still wanted.
    for (let slots = width - inFlight.size; idle.length > 0 && wanted > asked; slots--) {
      const share = Math.ceil((wanted - asked) / Math.min(slots, idle.length));
      const buffer = idle.shift()!;
      const arrival = requests.fill({ buffer, limit: evaluatedFor(share, buffer) }).then(() => ({ buffer, share }));
      arrival.catch(() => 'the error is thrown when the consumer asks for more');
      inFlight.set(buffer, arrival);
      asked += share;
    }
  };
  readOn();
  while (inFlight.size > 0) {
    const arrived = await requests.inTime(Promise.race(inFlight.values()));
    if (arrived === undefined) break;
    const { buffer, share } = arrived;
    inFlight.delete(buffer);
    asked -= share;
    const items = buffer.drain().filter(isNew).slice(0, wanted);
    wanted -= items.length;
    // The next read of the shard may be answered before the consumer has taken these items.
    const next = buffer.readable ? buffer.goesOnAt : undefined;
    if (buffer.readable) idle.unshift(buffer);
    readOn();
    yield { shard: buffer.shard, items, next, missing: buffer.missing };
  }
  const unread = buffers.filter(({ mayHaveMore, missing }) => mayHaveMore || missing);
  if (unread.length > 0) throw new ShardsUnavailableError(unread.map(({ shard }) => shard));
}
