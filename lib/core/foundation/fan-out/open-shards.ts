import { BinaryHeap } from './binary-heap';
import type { PageInProgress } from './page-in-progress';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** A shard that can have further items of a page, and on how many places of the page they can stand. */
export interface UnfinishedShard<T> {
  buffer: ShardBuffer<T>;
  places: number;
}

/**
 * The shards that can have further items of a page, the one with the first frontier first. A shard has at most as many of
 * them as the page has places behind the shard's frontier.
 *
 * `worst` is the worst item that the page can still have. It is undefined as long as the buffers hold fewer items than the
 * page has room for.
 */
export function openShards<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
): { open: UnfinishedShard<T>[]; worst: Position<T> | undefined } {
  const { best, worst } = bestBuffered(buffers, compare, page);
  const room = worst === undefined ? (page.room ?? page.expected ?? Number.POSITIVE_INFINITY) : best.length;
  const open = buffers
    .filter(({ readable }) => readable)
    .map((buffer) => ({ buffer, places: room - countUpTo(best, buffer.frontier, compare) }))
    // That a page has no more places is a guess as long as only bytes bound it.
    .map((shard) =>
      worst === undefined && page.room === undefined ? { ...shard, places: Math.max(1, shard.places) } : shard,
    )
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places);
  return { open, worst };
}

/**
 * The first of the buffered items, in order: as many as the page has room for, the last of which is the worst that it can have; or
 * all, if fewer are buffered.
 */
function bestBuffered<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
): { best: Position<T>[]; worst: Position<T> | undefined } {
  const { room = Number.POSITIVE_INFINITY, roomBytes = Number.POSITIVE_INFINITY } = page;
  const queues = buffers.map(({ buffered }) => ({ buffered, at: 0 })).filter(({ buffered }) => buffered.length > 0);
  const heap = new BinaryHeap((a, b) => compare(a.buffered[a.at]!, b.buffered[b.at]!), queues);
  const best: Position<T>[] = [];
  let bytes = 0;
  for (let queue = heap.top; queue !== undefined; queue = heap.top) {
    const next = queue.buffered[queue.at]!;
    best.push(next);
    bytes += page.bytesOf(next);
    if (best.length >= room || bytes > roomBytes) return { best, worst: next };
    queue.at += 1;
    if (queue.at < queue.buffered.length) heap.topChanged();
    else heap.removeTop();
  }
  return { best, worst: undefined };
}

/** How many of the sorted positions are before `bound` or at it. None if there is no bound. */
function countUpTo<T>(
  sorted: readonly Position<T>[],
  bound: Position<T> | undefined,
  compare: ComparePositions<T>,
): number {
  if (bound === undefined) return 0;
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle]!, bound) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
