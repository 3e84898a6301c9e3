import { BinaryHeap } from './binary-heap';
import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import { blocksOf, evaluatedFor, itemsInBlock, readSize } from './read-size';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** What a later wave may read ahead, as a share of the least that the page can cost. */
const AHEAD = 0.5;

/**
 * The reads of the next wave of an ordered page. This function is pure.
 *
 * Until the buffers hold as many items as the page has room for, the wave fills the buffer of every shard up to the
 * share of the page that the shard most likely has. From then on the page cannot end behind the last of these items.
 * Only a shard that was not read up to that position can still contribute, and `boundedReads` reads on there.
 */
export function planWave<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
  sizes: ItemSizes,
): BufferRead<T>[] {
  const readable = buffers.filter((buffer) => buffer.readable);
  const { room, expected } = page;
  if (room !== undefined) {
    const best = firstBuffered(buffers, compare, room);
    const worst = best[room - 1];
    if (worst !== undefined) return boundedReads(readable, compare, best, worst, sizes);
  }
  if (expected === undefined) return withRunningLow(readable).map((buffer) => ({ buffer }));

  const settled = buffers.reduce((sum, buffer) => sum + (buffer.readable ? 0 : buffer.bufferedCount), 0);
  const size = readSize(Math.max(1, expected - settled), readable.length, sizes);
  if (size === undefined) return withRunningLow(readable).map((buffer) => ({ buffer }));
  return readable
    .filter((buffer) => buffer.bufferedCount < size)
    .map((buffer) => ({ buffer, limit: evaluatedFor(size - buffer.bufferedCount, buffer) }));
}

/**
 * The reads of a wave that ends with the worst item that the page can still have. A shard has at most as many further
 * items of the page as the page has places behind the shard's frontier.
 *
 * The shard with the first frontier is asked for all of them: the page cannot go on without it. It is not known whether
 * the other shards have any. So together they are asked for no more blocks than `AHEAD` of the least that the page can
 * cost, in the order of their frontiers and a block each at least.
 */
function boundedReads<T>(
  readable: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  best: readonly Position<T>[],
  worst: Position<T>,
  sizes: ItemSizes,
): BufferRead<T>[] {
  const [first, ...others] = readable
    .map((buffer) => ({ buffer, places: best.length - countUpTo(best, buffer.frontier, compare) }))
    .filter(({ places }) => places > 0)
    .sort((a, b) => b.places - a.places);
  if (first === undefined) return [];
  const ahead = Math.ceil(AHEAD * Math.max(readable.length, blocksOf(best.length, sizes)));
  const share = Math.max(1, Math.floor(ahead / others.length)) * itemsInBlock(sizes);
  const read = (buffer: ShardBuffer<T>, items: number): BufferRead<T> => ({
    buffer,
    limit: evaluatedFor(items, buffer),
    until: worst,
  });
  return [
    read(first.buffer, first.places),
    ...others.slice(0, ahead).map(({ buffer, places }) => read(buffer, Math.min(places, share))),
  ];
}

/** The first `count` of the buffered items, in order. Empty if fewer are buffered. */
function firstBuffered<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  count: number,
): Position<T>[] {
  if (buffers.reduce((sum, { bufferedCount }) => sum + bufferedCount, 0) < count) return [];
  const runs = buffers.map(({ buffered }) => ({ buffered, at: 0 })).filter(({ buffered }) => buffered.length > 0);
  const heap = new BinaryHeap((a, b) => compare(a.buffered[a.at]!, b.buffered[b.at]!), runs);
  const first: Position<T>[] = [];
  while (first.length < count) {
    const run = heap.top!;
    first.push(run.buffered[run.at]!);
    run.at += 1;
    if (run.at < run.buffered.length) heap.topChanged();
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

/** The buffers that are empty, and those that soon will be. Together they need one wave instead of one each. */
function withRunningLow<T>(readable: readonly ShardBuffer<T>[]): ShardBuffer<T>[] {
  const enough = Math.max(...readable.map(({ bufferedCount }) => bufferedCount)) / 2;
  return readable.filter(({ bufferedCount }) => bufferedCount === 0 || bufferedCount < enough);
}
