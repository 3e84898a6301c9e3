import { BinaryHeap } from './binary-heap';
import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import type { ShardBuffer } from './shard-buffer';
import type { ShardRequests } from './shard-requests';
import type { ComparePositions } from './total-order';
import { planWave } from './wave-plan';

/**
 * Fills a page from many ordered streams: a lazy k-way merge. An item is taken once every other stream is known to have
 * nothing before it; when that is not known, the streams that matter are read side by side, in one wave.
 *
 * @returns whether something may follow
 */
export async function orderedMerge<T>(
  streams: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
  sizes: ItemSizes,
  requests: ShardRequests<T>,
): Promise<boolean> {
  for (;;) {
    const blocking = takeSettled(streams, compare, page);
    if (blocking === undefined) return streams.some(({ mayHaveMore }) => mayHaveMore);
    if (!blocking.readable) return true;
    if (!requests.open) {
      page.readTo = blocking.bound;
      if (page.end !== undefined) return true;
      requests.giveUp(streams.filter(({ starving }) => starving));
    } else {
      await requests.wave(planWave(streams, compare, page, sizes));
    }
  }
}

/** Takes what is certain. Returns the stream that must be read before anything else is, or undefined at the end. */
function takeSettled<T>(
  streams: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
): ShardBuffer<T> | undefined {
  const unread = streams.find((stream) => stream.readable && stream.bound === undefined);
  if (unread !== undefined) return unread;
  const waiting = streams.filter((stream) => stream.bound !== undefined);
  const heap = new BinaryHeap<ShardBuffer<T>>((a, b) => compare(a.bound!, b.bound!), waiting);
  for (let top = heap.top; top !== undefined; top = heap.top) {
    const { head } = top;
    if (page.room === 0) return undefined;
    if (head === undefined) return top;
    if (!page.take(head)) return undefined;
    top.advance();
    if (top.bound === undefined) heap.removeTop();
    else heap.topChanged();
  }
  return undefined;
}
