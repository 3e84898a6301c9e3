import { BinaryHeap } from './binary-heap';
import type { PageInProgress } from './page-in-progress';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** A shard that may hold further items of a page, and how many places of the page they may take. */
export interface UnfinishedShard<T> {
  buffer: ShardBuffer<T>;
  places: number;
}

/**
 * The shards that may hold further items of a page, in the order of their frontiers. A shard has at most as many of them as
 * the page has places after the shard's frontier. The page must have a bound.
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
  const room = worst === undefined ? (page.room ?? page.expected!) : best.length;
  const open = buffers
    .filter(({ readable }) => readable)
    .map((buffer) => ({ buffer, places: room - countUpTo(best, buffer.frontier, compare) }))
    // While only bytes bound the page, the number of its places is a guess.
    .map((shard) =>
      worst === undefined && page.room === undefined ? { ...shard, places: Math.max(1, shard.places) } : shard,
    )
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places);
  return { open, worst };
}

/**
 * The first buffered items in order: as many as the page has room for, or all if fewer are buffered. If the page is full,
 * the last of them is the worst item that it can have.
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

/** How many of the sorted positions are not after `bound`. 0 if there is no bound. */
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
