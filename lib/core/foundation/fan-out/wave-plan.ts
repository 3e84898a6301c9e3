import { BinaryHeap } from './binary-heap';
import type { ItemSizes } from './item-sizes';
import type { PageInProgress } from './page-in-progress';
import { evaluatedFor, readSize } from './read-size';
import type { ShardBuffer, StreamRead } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/**
 * The reads of the next wave of an ordered page. Pure.
 *
 * Once as many items are here as the page has room for, the last of them is the worst the page can end with: only
 * shards that were not read up to there can still contribute, no shard more items than it has places to win, and none
 * behind that position. Until then, every shard is filled up to the share it most likely has in the page.
 */
export function planWave<T>(
  streams: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
  sizes: ItemSizes,
): StreamRead<T>[] {
  const readable = streams.filter((stream) => stream.readable);
  const { room, expected } = page;
  if (room !== undefined) {
    const best = firstBuffered(streams, compare, room);
    const worst = best[room - 1];
    if (worst !== undefined) return boundedReads(readable, compare, best, worst);
  }
  if (expected === undefined) return withRunningLow(readable).map((stream) => ({ stream }));

  const settled = streams.reduce((sum, stream) => sum + (stream.readable ? 0 : stream.bufferedCount), 0);
  const size = readSize(Math.max(1, expected - settled), readable.length, sizes);
  if (size === undefined) return withRunningLow(readable).map((stream) => ({ stream }));
  return readable
    .filter((stream) => stream.bufferedCount < size)
    .map((stream) => ({ stream, limit: evaluatedFor(size - stream.bufferedCount, stream) }));
}

function boundedReads<T>(
  readable: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  best: readonly Position<T>[],
  worst: Position<T>,
): StreamRead<T>[] {
  return readable.flatMap((stream) => {
    const { frontier } = stream;
    const places = frontier === undefined ? best.length : best.length - countUpTo(best, frontier, compare);
    return places === 0 ? [] : [{ stream, limit: evaluatedFor(places, stream), until: worst }];
  });
}

/** The first `count` of the items that are here, in order. */
function firstBuffered<T>(
  streams: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  count: number,
): Position<T>[] {
  if (streams.reduce((sum, { bufferedCount }) => sum + bufferedCount, 0) < count) return [];
  const runs = streams.map(({ buffered }) => ({ buffered, at: 0 })).filter(({ buffered }) => buffered.length > 0);
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

/** How many of the sorted positions stand before or at `bound`. */
function countUpTo<T>(sorted: readonly Position<T>[], bound: Position<T>, compare: ComparePositions<T>): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle]!, bound) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The streams that starve, and those that soon would, so that shards do not take turns. */
function withRunningLow<T>(readable: readonly ShardBuffer<T>[]): ShardBuffer<T>[] {
  const enough = Math.max(...readable.map(({ bufferedCount }) => bufferedCount)) / 2;
  return readable.filter(({ bufferedCount }) => bufferedCount === 0 || bufferedCount < enough);
}
