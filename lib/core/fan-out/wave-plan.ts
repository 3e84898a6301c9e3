import type { ItemSizes } from './item-sizes';
import { type BestBuffered, bestBuffered, openShards, type UnfinishedShard } from './open-shards';
import { PageEnd } from './page-end';
import type { PageInProgress } from './page-in-progress';
import type { PageState } from './page-state';
import { blocksOf, evaluatedFor, itemsInBlock, readSize } from './read-size';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { Position } from './total-order';

/** The maximum cost of the blocks that a later wave reads in advance, as a share of the minimum cost of the page. */
const AHEAD = 0.5;

/**
 * If items were in random shards, a long sequence of consecutive items from one shard (a stretch) would be unlikely. If the
 * probability of the observed stretch is smaller than this number, the plan assumes that the shards have runs: see `isInRuns`.
 */
const RANDOM_STRETCH_PROBABILITY = 0.001;

/** The reads of a wave of an ordered page. */
export interface WavePlan<T> {
  readonly reads: BufferRead<T>[];
  /** The latest possible end of the page. Absent for a page without a bound. */
  readonly end?: PageEnd<T>;
}

/**
 * Plans the reads of the next wave of an ordered page. This function is pure.
 *
 * While the buffered items do not fill the page, the wave reads every shard. From each shard it reads as many items of the page
 * as the shard most likely has. When the buffered items fill the page, the page ends at the latest with the last buffered item
 * that fits on it. Only shards that were not read up to this position can have more items of the page, and `boundedReads` continues with
 * these shards. If the shards have runs of consecutive items, `runReads` plans all waves instead.
 */
export function planWave<T>(state: PageState<T>): WavePlan<T> {
  const { buffers, page } = state;
  const readable = buffers.filter((buffer) => buffer.readable);
  if (page.expected === undefined) return { reads: withRunningLow(readable).map((buffer) => ({ buffer })) };
  const best = bestBuffered(state);
  return { reads: boundedWave(state, readable, page.expected, best), end: new PageEnd(state, best) };
}

function boundedWave<T>(
  state: PageState<T>,
  readable: readonly ShardBuffer<T>[],
  expected: number,
  best: BestBuffered<T>,
): BufferRead<T>[] {
  const { buffers, page, sizes } = state;
  const { worst } = best;
  const open = openShards(state, best);
  if (isInRuns(page, readable.length)) return runReads(state, open, worst);
  if (worst !== undefined) {
    return boundedReads(open, worst, Math.max(readable.length, blocksOf(expected, sizes)), sizes);
  }
  const settled = buffers.reduce((sum, buffer) => sum + (buffer.readable ? 0 : buffer.bufferedCount), 0);
  const size = readSize(Math.max(1, expected - settled), readable.length, sizes);
  return readable
    .filter((buffer) => buffer.bufferedCount < size)
    .map((buffer) => ({ buffer, limit: evaluatedFor(size - buffer.bufferedCount, buffer) }));
}

/**
 * Plans the reads of a wave up to the last item that can be on the page.
 *
 * The frontier of a shard is the position up to which the shard was read. The merge cannot continue without the shard with the
 * first frontier, so the read of this shard requests all its items that can be on the page. The other shards may have no item
 * of the page. So the reads of the other shards together request few blocks: at most the share `AHEAD` of the page's minimum
 * number of blocks. These reads are sorted by frontier, and each read requests at least one block.
 */
function boundedReads<T>(
  [first, ...others]: readonly UnfinishedShard<T>[],
  worst: Position<T>,
  leastBlocks: number,
  sizes: ItemSizes,
): BufferRead<T>[] {
  if (first === undefined) return [];
  const ahead = Math.ceil(AHEAD * leastBlocks);
  const share = Math.max(1, Math.floor(ahead / others.length)) * itemsInBlock(sizes);
  const read = readUpTo(worst);
  return [read(first, first.mostItems), ...others.slice(0, ahead).map((shard) => read(shard, share))];
}

/**
 * Whether the shards have runs. A run is a sequence of consecutive items in one shard that is longer than the average number of
 * items per shard on a page. The result is estimated from the beginning of the page and from the previous page. The page must
 * have a limit in items or in bytes.
 */
function isInRuns<T>({ stretch, positions, expected }: PageInProgress<T>, shards: number): boolean {
  const atRandom = 1 - Math.log(RANDOM_STRETCH_PROBABILITY) / Math.log(shards);
  return stretch === undefined ? positions.length > atRandom : stretch > Math.max(atRandom, expected! / shards);
}

/**
 * Plans the reads of a wave if the shards have runs. The first wave reads one block of every shard. The first items of the
 * shards then show the order of the runs. So a later wave reads the shards with the first frontiers, one run from each shard,
 * and as many runs as fit on the page. While the length of a run is unknown, the wave reads only the first shard.
 *
 * The merge cannot continue without the shard with the first frontier, so the read of this shard requests all its items that
 * can be on the page. If the end of the page is still unknown, the read requests only one run.
 */
function runReads<T>(
  { page, sizes }: PageState<T>,
  open: readonly UnfinishedShard<T>[],
  worst: Position<T> | undefined,
): BufferRead<T>[] {
  const block = itemsInBlock(sizes);
  const read = readUpTo(worst);
  const unread = open.filter(({ buffer }) => buffer.frontier === undefined);
  if (unread.length > 0) return unread.map((shard) => read(shard, block));

  const [first, ...others] = open;
  if (first === undefined) return [];
  const length = page.stretch ?? first.mostItems;
  const runs = Math.ceil(first.mostItems / length);
  const run = Math.ceil(length);
  return [
    read(first, worst === undefined ? Math.max(block, run) : first.mostItems),
    ...others.slice(0, runs - 1).map((shard) => read(shard, Math.max(block, run - shard.buffer.bufferedCount))),
  ];
}

/** Returns a function that creates a read of a buffer, up to the last item that can be on the page. */
function readUpTo<T>(worst: Position<T> | undefined) {
  return ({ buffer, mostItems }: UnfinishedShard<T>, items: number): BufferRead<T> => ({
    buffer,
    limit: evaluatedFor(Math.min(mostItems, items), buffer),
    until: worst,
  });
}

/** Returns the buffers that are empty or will be empty soon, so that one wave fills all these buffers. */
function withRunningLow<T>(readable: readonly ShardBuffer<T>[]): ShardBuffer<T>[] {
  const enough = readable.reduce((most, { bufferedCount }) => Math.max(most, bufferedCount), 0) / 2;
  return readable.filter(({ bufferedCount }) => bufferedCount === 0 || bufferedCount < enough);
}
