import type { ItemSizes } from './item-sizes';

/**
 * The size of a block, in bytes. An eventually consistent read costs half a read unit per started block. Source: the
 * DynamoDB developer guide, "Read consumption".
 */
export const BLOCK_BYTES = 4_096;

/** A limit that is larger than the number of items in a response of 1 MB, so this limit does not restrict a read. */
const MAX_ITEMS = 1_000_000;

/**
 * If the mean number of items per shard is above this number, two standard deviations are a small part of the mean. To read
 * these few additional items costs less than to compute a smaller read.
 */
const LARGE_SHARE = 1_000;

/** `readSize` considers larger reads until a second wave is necessary with at most this probability. */
const SECOND_WAVE_PROBABILITY = 0.1;

/** The assumed cost of the wait for a second wave, as a multiple of the minimum cost of the page. */
const SECOND_WAVE_COST = 2;

/**
 * The maximum expected cost of a page and its second wave, as a multiple of the minimum cost of the page. The expectation
 * assumes that items are in random shards. With this bound, pages of skewed shards cost at most 2.5 times the minimum in `npm
 * run bench`.
 */
const MAX_OVER_FLOOR = 2.25;

/**
 * Computes how many items to read from each of `shards` shards, so that the reads together most likely return the next `wanted`
 * items.
 *
 * The function assumes that items are in random shards. Then the number of wanted items in one shard has a binomial
 * distribution. The mean of this distribution is the share of the shard, and the standard deviation is about the square root of
 * the share.
 *
 * - If the share plus two standard deviations fits into one block, the read is one block, the minimum that the store charges.
 * - Otherwise the read has the size with the lowest total cost of read units and of the wait for a second wave. The limit is
 *   then increased to fill the last block.
 * - While the sizes of items are unknown, the read is slightly larger than the share. Its response shows the sizes, so a page
 *   of large items does not read too much.
 */
export function readSize(wanted: number, shards: number, sizes: ItemSizes): number {
  const share = wanted / shards;
  if (shards === 1 || share > LARGE_SHARE) return Math.min(MAX_ITEMS, Math.ceil(share + 2 * Math.sqrt(share)), wanted);
  const tail = shardTail(wanted, shards);
  // With smaller reads, the last item of the first wave would be too far after the end of the page to be a useful bound.
  const fewest = Math.min(tail.length, Math.ceil(share + Math.sqrt(share) / 2));
  const { mean } = sizes;
  if (mean === undefined) return fewest;

  // The total size of the items of a read varies. With a margin of two standard deviations, most reads stay within their
  // blocks.
  const mostBlocks = (items: number): number =>
    Math.ceil((items * mean + 2 * Math.sqrt(items) * sizes.deviation) / BLOCK_BYTES);
  const filled = (items: number): number => {
    let most = items;
    while (most < wanted && mostBlocks(most + 1) === mostBlocks(items)) most += 1;
    return most;
  };
  if (mostBlocks(Math.ceil(share + 2 * Math.sqrt(share))) === 1) return filled(1);

  const floor = Math.max(shards, (wanted * mean) / BLOCK_BYTES);
  // The expected cost of a second wave: a block of each shard that may have more items, and these items.
  const further = tail.map(() => 0);
  for (let index = tail.length - 3; index >= 0; index--) further[index] = further[index + 1]! + tail[index + 2]!;
  let size = fewest;
  let least = Number.POSITIVE_INFINITY;
  for (let items = fewest; items <= tail.length; items++) {
    const atLeast = tail[items - 1]!;
    const blocks = mostBlocks(items) + atLeast + (further[items - 1]! * mean) / BLOCK_BYTES;
    const overFloor = (shards * blocks) / floor;
    const cost = overFloor + SECOND_WAVE_COST * (1 - (1 - atLeast) ** shards);
    if (cost >= least || overFloor > MAX_OVER_FLOOR) continue;
    size = items;
    least = cost;
  }
  return filled(size);
}

/**
 * The number of blocks that `items` items fill. If the size of items is unknown, an item is assumed to fill a block.
 */
export function blocksOf(items: number, { mean = BLOCK_BYTES }: Pick<ItemSizes, 'mean'>): number {
  return Math.ceil((items * mean) / BLOCK_BYTES);
}

/** The number of items in one block, at least 1. */
export function itemsInBlock(sizes: Pick<ItemSizes, 'mean'>): number {
  return Math.max(1, itemsInBlocks(1, sizes));
}

/**
 * The number of items that fit into `blocks` blocks. If the size of items is unknown, an item is assumed to fill a
 * block.
 */
export function itemsInBlocks(blocks: number, { mean = BLOCK_BYTES }: Pick<ItemSizes, 'mean'>): number {
  return Math.floor((blocks * BLOCK_BYTES) / mean);
}

/**
 * The maximum growth factor of a limit from one read to the next. Without this bound, a filter that hides nearly every item
 * would let a read grow from a few items to a megabyte.
 */
const MAX_GROWTH = 4;

interface ShardYield {
  evaluated: number;
  matched: number;
  largestLimit: number;
}

/**
 * The limit of a read for which about `wanted` items pass the filter. The function assumes that the same share of items passes
 * the filter as in the earlier reads.
 */
export function evaluatedFor(wanted: number, { evaluated, matched, largestLimit }: ShardYield): number {
  const estimate = Math.ceil((wanted * evaluated) / Math.max(matched, 1));
  return Math.min(MAX_ITEMS, Math.max(wanted, Math.min(estimate, MAX_GROWTH * largestLimit)));
}

/**
 * For n = 1, 2, ...: the probability that a given shard has at least n of the wanted items. The list ends when the probability
 * that any shard has n items is at most `SECOND_WAVE_PROBABILITY`.
 */
function shardTail(wanted: number, shards: number): number[] {
  const probabilities: number[] = [];
  let logOfExactly = wanted * Math.log1p(-1 / shards);
  let atLeast = 1;
  for (let items = 1; items <= wanted; items++) {
    // Compute with logarithms, because the first probability of this sum can be too small for a double.
    atLeast -= Math.exp(logOfExactly);
    logOfExactly += Math.log((wanted - items + 1) / items) - Math.log(shards - 1);
    probabilities.push(Math.max(0, atLeast));
    if (shards * atLeast <= SECOND_WAVE_PROBABILITY) break;
  }
  return probabilities;
}
