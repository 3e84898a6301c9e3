import { ShardsUnavailableError } from './fan-out-errors';
import { evaluatedFor } from './read-size';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';

/** What flows, and how fast. */
export interface FlowBounds<T> {
  /** Most shards that are read, or have been read and not yet taken from, at once. */
  width: number;
  /** The most items. */
  limit: number;
  isNew(item: T): boolean;
}

/**
 * Gives the items of all shards page by page, as they arrive. The shards take turns, so that all get on alike.
 *
 * A shard is read on only after its page has been taken, so that however slow the consumer is, what is held are `width`
 * pages and the one being consumed. Reads together ask for no more than is still wanted.
 *
 * @throws ShardsUnavailableError in the end, if it is not the end of every shard
 */
export async function* shardFlow<T>(
  streams: readonly ShardBuffer<T>[],
  { width, limit, isNew }: FlowBounds<T>,
  requests: ShardRequests<T>,
): AsyncGenerator<T[], void, undefined> {
  const idle = streams.filter(({ readable }) => readable);
  const underWay = new Map<ShardBuffer<T>, Promise<{ stream: ShardBuffer<T>; share: number }>>();
  let wanted = limit;
  let asked = 0;
  const readOn = (): void => {
    for (let slots = width - underWay.size; slots > 0 && idle.length > 0 && wanted > asked; slots--) {
      const share = Math.ceil((wanted - asked) / Math.min(slots, idle.length));
      const stream = idle.shift()!;
      const arrival = requests.fill({ stream, limit: evaluatedFor(share, stream) }).then(() => ({ stream, share }));
      arrival.catch(() => 'thrown once the consumer asks for more');
      underWay.set(stream, arrival);
      asked += share;
    }
  };
  readOn();
  while (wanted > 0 && underWay.size > 0) {
    const arrived = await requests.inTime(Promise.race(underWay.values()));
    if (arrived === undefined) break;
    const { stream, share } = arrived;
    underWay.delete(stream);
    asked -= share;
    const items = stream.drain().filter(isNew).slice(0, wanted);
    wanted -= items.length;
    if (stream.readable) idle.push(stream);
    readOn();
    yield items;
  }
  const unread = streams.filter(({ mayHaveMore, missing }) => mayHaveMore || missing);
  if (wanted > 0 && unread.length > 0) throw new ShardsUnavailableError(unread.map(({ shard }) => shard));
}
