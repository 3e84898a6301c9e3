import { BinaryHeap } from './binary-heap';
import type { PageState } from './page-state';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** An item that the page may hold, and the buffer that has it. */
export interface Candidate<T> {
  readonly position: Position<T>;
  readonly bytes: number;
  readonly buffer: ShardBuffer<T>;
}

/** The first buffered items of all shards: as many as the page has room for, or all if fewer are buffered. */
export interface BestBuffered<T> {
  /** The items, in order. */
  readonly items: readonly Candidate<T>[];
  readonly bytes: number;
  /** The worst item that the page can have. Undefined as long as fewer items are buffered than the page has room for. */
  readonly worst: Position<T> | undefined;
  /** The buffers with items after the worst one. */
  readonly longer: readonly ShardBuffer<T>[];
}

/** Merges the buffers up to the worst item that the page can have. The page must have a bound. */
export function bestBuffered<T>({ buffers, compare, page }: PageState<T>): BestBuffered<T> {
  const { room = Number.POSITIVE_INFINITY, roomBytes = Number.POSITIVE_INFINITY } = page;
  const queues = buffers
    .filter(({ bufferedCount }) => bufferedCount > 0)
    .map((buffer) => ({ buffer, buffered: buffer.buffered, at: 0 }));
  const heap = new BinaryHeap((a, b) => compare(a.buffered[a.at]!, b.buffered[b.at]!), queues);
  const items: Candidate<T>[] = [];
  let bytes = 0;
  for (let queue = heap.top; queue !== undefined; queue = heap.top) {
    const position = queue.buffered[queue.at]!;
    const candidate = { position, bytes: page.bytesOf(position), buffer: queue.buffer };
    items.push(candidate);
    bytes += candidate.bytes;
    queue.at += 1;
    if (items.length >= room || bytes > roomBytes) {
      const longer = queues.filter(({ buffered, at }) => at < buffered.length).map(({ buffer }) => buffer);
      return { items, bytes, worst: position, longer };
    }
    if (queue.at < queue.buffered.length) heap.topChanged();
    else heap.removeTop();
  }
  return { items, bytes, worst: undefined, longer: [] };
}

/** A shard that may hold further items of a page, and how many of them the page may take. */
export interface UnfinishedShard<T> {
  buffer: ShardBuffer<T>;
  wanted: number;
}

/**
 * The shards that may hold further items of a page, in the order of their frontiers. The page takes at most as
 * many items of a shard as it has room for after the shard's frontier. The page must have a bound.
 */
export function openShards<T>(
  { buffers, compare, page }: PageState<T>,
  { items, worst }: BestBuffered<T>,
): UnfinishedShard<T>[] {
  const room = worst === undefined ? (page.room ?? page.expected!) : items.length;
  // While only bytes bound the page, the number of items that it has room for is a guess.
  const least = worst === undefined && page.room === undefined ? 1 : 0;
  return buffers
    .filter(({ readable }) => readable)
    .map((buffer) => ({ buffer, wanted: Math.max(least, room - countUpTo(items, buffer.frontier, compare)) }))
    .filter(({ wanted }) => wanted > 0)
    .sort((a, b) => b.wanted - a.wanted);
}

/** How many of the sorted items are not after `bound`. 0 if there is no bound. */
function countUpTo<T>(
  sorted: BestBuffered<T>['items'],
  bound: Position<T> | undefined,
  compare: ComparePositions<T>,
): number {
  if (bound === undefined) return 0;
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle]!.position, bound) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
