import type { ItemSizes } from './item-sizes';
import { openShards, type UnfinishedShard } from './open-shards';
import type { PageInProgress } from './page-in-progress';
import { blocksOf, evaluatedFor, itemsInBlock, readSize } from './read-size';
import { isInRuns, runReads } from './run-reads';
import type { BufferRead, ShardBuffer } from './shard-buffer';
import type { ComparePositions, Position } from './total-order';

/** What a later wave may read ahead, as a share of the least that the page can cost. */
const AHEAD = 0.5;

/**
 * The reads of the next wave of an ordered page. This function is pure.
 *
 * Until the buffers hold as many items as the page has room for, the wave fills the buffer of every shard up to the
 * share of the page that the shard most likely has. From then on the page cannot end behind the last of these items.
 * Only a shard that was not read up to that position can still contribute, and `boundedReads` reads on there. Where the
 * shards hold runs of consecutive items, `runReads` plans all waves.
 */
export function planWave<T>(
  buffers: readonly ShardBuffer<T>[],
  compare: ComparePositions<T>,
  page: PageInProgress<T>,
  sizes: ItemSizes,
): BufferRead<T>[] {
  const readable = buffers.filter((buffer) => buffer.readable);
  const { expected } = page;
  if (expected === undefined) return withRunningLow(readable).map((buffer) => ({ buffer }));

  const { open, worst } = openShards(buffers, compare, page);
  if (isInRuns(page, readable.length)) return runReads(open, page.stretch, worst, sizes);
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
  const read = ({ buffer, places }: UnfinishedShard<T>, items: number): BufferRead<T> => ({
    buffer,
    limit: evaluatedFor(Math.min(places, items), buffer),
    until: worst,
  });
  return [read(first, first.places), ...others.slice(0, ahead).map((shard) => read(shard, share))];
}

/** The buffers that are empty, and those that soon will be. Together they need one wave instead of one each. */
function withRunningLow<T>(readable: readonly ShardBuffer<T>[]): ShardBuffer<T>[] {
  const enough = readable.reduce((most, { bufferedCount }) => Math.max(most, bufferedCount), 0) / 2;
  return readable.filter(({ bufferedCount }) => bufferedCount === 0 || bufferedCount < enough);
}
