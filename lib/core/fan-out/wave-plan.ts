import type { ItemSizes } from './item-sizes';
import { type BestBuffered, bestBuffered, openShards, type UnfinishedShard } from './open-shards';
import { PageEnd } from './page-end';
import type { PageInProgress } from './page-in-progress';
import type { PageState } from './page-state';
import { blocksOf, evaluatedFor, itemsInBlock, readSize } from './read-size';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { Position } from './total-order';

/** What a later wave may read ahead, as a share of the least that the page can cost. */
const AHEAD = 0.5;

/** How unlikely a stretch of one shard must be, if items lay in the shards at random, to show that the shards hold runs. */
const RANDOM_STRETCH_PROBABILITY = 0.001;

/** The reads of a wave of an ordered page. */
export interface WavePlan<T> {
  readonly reads: BufferRead<T>[];
  /** Where the page ends at the latest. Absent for a page without a bound. */
  readonly end?: PageEnd<T>;
}

/**
 * The reads of the next wave of an ordered page. This function is pure.
 *
 * Until the buffers hold as many items as the page has room for, the wave fills the buffer of every shard up to the
 * share of the page that the shard most likely has. From then on the page cannot end behind the last of these items.
 * Only a shard that was not read up to that position can still contribute, and `boundedReads` reads on there. Where the
 * shards hold runs of consecutive items, `runReads` plans all waves.
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
 * The reads of a wave that ends with the worst item that the page can still have.
 *
 * The shard with the first frontier is asked for all that it can have: the page cannot go on without it. Whether the other
 * shards have any of the page's items is not known. So together they are asked for at most a share of `AHEAD` of the blocks
 * that the page costs at least. They come in the order of their frontiers, with at least one block each.
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
  return [read(first, first.wanted), ...others.slice(0, ahead).map((shard) => read(shard, share))];
}

/**
 * Whether the shards hold runs: consecutive items of the order that lie in one shard, more of them than a page has of a
 * shard on average. The beginning of a page shows this, and so does the page before. The page must have a bound.
 */
function isInRuns<T>({ stretch, positions, expected }: PageInProgress<T>, shards: number): boolean {
  const atRandom = 1 - Math.log(RANDOM_STRETCH_PROBABILITY) / Math.log(shards);
  return stretch === undefined ? positions.length > atRandom : stretch > Math.max(atRandom, expected! / shards);
}

/**
 * The reads of a wave where the shards hold runs. The first wave asks every shard for a block. The first items of the
 * shards then tell in which order the runs come. So a later wave asks the shards with the first frontiers for a run each.
 * These are as many shards as the page has room for runs, or only the first shard as long as the length of no run is
 * known.
 *
 * The page cannot go on without the shard with the first frontier. So it is asked for all that it can have, unless its run
 * is known to be shorter and no worst item bounds the read.
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
  const length = page.stretch ?? first.wanted;
  const runs = Math.ceil(first.wanted / length);
  const run = Math.ceil(length);
  return [
    read(first, worst === undefined ? Math.max(block, run) : first.wanted),
    ...others.slice(0, runs - 1).map((shard) => read(shard, Math.max(block, run - shard.buffer.bufferedCount))),
  ];
}

/** Makes reads that end with the worst item that the page can still have. */
function readUpTo<T>(worst: Position<T> | undefined) {
  return ({ buffer, wanted }: UnfinishedShard<T>, items: number): BufferRead<T> => ({
    buffer,
    limit: evaluatedFor(Math.min(wanted, items), buffer),
    until: worst,
  });
}

/** The buffers that are empty, and those that soon will be. Together they need one wave instead of one each. */
function withRunningLow<T>(readable: readonly ShardBuffer<T>[]): ShardBuffer<T>[] {
  const enough = readable.reduce((most, { bufferedCount }) => Math.max(most, bufferedCount), 0) / 2;
  return readable.filter(({ bufferedCount }) => bufferedCount === 0 || bufferedCount < enough);
}
