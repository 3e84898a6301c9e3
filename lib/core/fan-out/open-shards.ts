import { BinaryHeap } from '../kernel/binary-heap';
import { binarySearch } from '../kernel/binary-search';
import type { PageState } from './page-state';
import type { ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** A buffered item that can be on the page, and its buffer. */
export interface Candidate<T> {
  readonly position: Position<T>;
  readonly bytes: number;
  readonly buffer: ShardBuffer<T>;
}

/** The first buffered items of all shards in the order of the query, at most as many as fit on the page. */
export interface BestBuffered<T> {
  readonly items: readonly Candidate<T>[];
  readonly bytes: number;
  /** The last item that can be on the page. Undefined while the buffered items do not fill the page. */
  readonly worst: Position<T> | undefined;
  /** The buffers that contain items after `worst`. */
  readonly longer: readonly ShardBuffer<T>[];
}

/** Merges the buffers up to the last item that can be on the page. The page must have a limit in items or in bytes. */
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

/** A shard that may have more items of a page, and the maximum number of these items that fit on the page. */
export interface UnfinishedShard<T> {
  buffer: ShardBuffer<T>;
  mostItems: number;
}

/**
 * Returns the shards that may have more items of a page, in the order of their frontiers. The frontier of a shard is the position
 * up to which the shard was read. The page can take at most as many items of a shard as fit on the page after the shard's
 * frontier. The page must have a limit in items or in bytes.
 */
export function openShards<T>(
  { buffers, compare, page }: PageState<T>,
  { items, worst }: BestBuffered<T>,
): UnfinishedShard<T>[] {
  const room = worst === undefined ? (page.room ?? page.expected!) : items.length;
  // If only bytes bound the page, the number of items that fit is an estimate.
  const least = worst === undefined && page.room === undefined ? 1 : 0;
  return buffers
    .filter(({ readable }) => readable)
    .map((buffer) => ({ buffer, mostItems: Math.max(least, room - countUpTo(items, buffer.frontier, compare)) }))
    .filter(({ mostItems }) => mostItems > 0)
    .sort((a, b) => b.mostItems - a.mostItems);
}

/** Counts the sorted items up to and including `bound`. Returns 0 if there is no bound. */
function countUpTo<T>(
  sorted: BestBuffered<T>['items'],
  bound: Position<T> | undefined,
  compare: ComparePositions<T>,
): number {
  if (bound === undefined) return 0;
  return binarySearch(0, sorted.length, (index) => compare(sorted[index]!.position, bound) > 0);
}
