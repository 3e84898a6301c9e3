import { BinaryHeap } from './binary-heap';
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
  room: number,
): { open: UnfinishedShard<T>[]; worst: Position<T> | undefined } {
  const best = firstBuffered(buffers, compare, room);
  const open = buffers
    .filter(({ readable }) => readable)
    .map((buffer) => ({ buffer, places: room - countUpTo(best, buffer.frontier, compare) }))
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places);
  return { open, worst: best[room - 1] };
}

/** The first of the buffered items, in order: `count`, or all if fewer are buffered. */
function firstBuffered<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  count: number,
): Position<T>[] {
  const queues = buffers.map(({ buffered }) => ({ buffered, at: 0 })).filter(({ buffered }) => buffered.length > 0);
  const heap = new BinaryHeap((a, b) => compare(a.buffered[a.at]!, b.buffered[b.at]!), queues);
  const first: Position<T>[] = [];
  for (let queue = heap.top; queue !== undefined && first.length < count; queue = heap.top) {
    first.push(queue.buffered[queue.at]!);
    queue.at += 1;
    if (queue.at < queue.buffered.length) heap.topChanged();
    else heap.removeTop();
  }
  return first;
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
