import type { ItemSizes } from './item-sizes';
import type { UnfinishedShard } from './open-shards';
import type { PageInProgress } from './page-in-progress';
import { evaluatedFor, itemsInBlock } from './read-size';
import type { BufferRead } from './shard-buffer';
import type { Position } from './total-order';

/** How unlikely a stretch of one shard must be, if items lay in the shards at random, to show that the shards hold runs. */
const RANDOM_STRETCH_PROBABILITY = 0.001;

/**
 * Whether the shards hold runs: consecutive items of the order that lie in one shard, more of them than a page has of a
 * shard on average. The beginning of a page shows this, and so does the page before. The page must have a bound.
 */
export function isInRuns<T>({ stretch, positions, expected }: PageInProgress<T>, shards: number): boolean {
  const atRandom = 1 - Math.log(RANDOM_STRETCH_PROBABILITY) / Math.log(shards);
  return stretch === undefined ? positions.length > atRandom : stretch > Math.max(atRandom, expected! / shards);
}

/**
 * The reads of a wave where the shards hold runs. The first wave asks every shard for a block. The first items of the
 * shards then tell in which order the runs come. So a later wave asks the shards with the first frontiers for a run each.
 * These are as many shards as the page has places for runs, or only the first shard as long as the length of no run is
 * known.
 *
 * The page cannot go on without the shard with the first frontier. So it is asked for all that it can have, unless its run
 * is known to be shorter and no worst item bounds the read.
 *
 * @param stretch how long a run is. Undefined as long as the length of no run is known
 */
export function runReads<T>(
  open: readonly UnfinishedShard<T>[],
  stretch: number | undefined,
  worst: Position<T> | undefined,
  sizes: ItemSizes,
): BufferRead<T>[] {
  const block = itemsInBlock(sizes);
  const read = ({ buffer, places }: UnfinishedShard<T>, items: number): BufferRead<T> => ({
    buffer,
    limit: evaluatedFor(Math.min(places, items), buffer),
    until: worst,
  });
  const unread = open.filter(({ buffer }) => buffer.frontier === undefined);
  if (unread.length > 0) return unread.map((shard) => read(shard, block));

  const [first, ...others] = open;
  if (first === undefined) return [];
  const length = stretch ?? first.places;
  const runs = Math.ceil(first.places / length);
  const run = Math.ceil(length);
  return [
    read(first, worst === undefined ? Math.max(block, run) : first.places),
    ...others.slice(0, runs - 1).map((shard) => read(shard, Math.max(block, run - shard.buffer.bufferedCount))),
  ];
}
