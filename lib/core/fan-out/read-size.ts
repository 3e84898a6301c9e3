import type { ItemSizes } from './item-sizes';

/**
 * The size of a block, in bytes. An eventually consistent read costs half a read unit for each block, full or not.
 * Source: the DynamoDB developer guide, "Read consumption".
 */
export const BLOCK_BYTES = 4_096;

/**
 * More items than an answer of a megabyte can hold: a read with this limit asks for everything that the store returns at
 * once.
 */
const MOST_ITEMS = 1_000_000;

/**
 * From this share on, two standard deviations are such a small part of it that reading them costs less than finding out
 * whether fewer items would do.
 */
const LARGE_SHARE = 1_000;

/** How likely a page needs a second wave even after the largest reads that are considered. */
const SECOND_WAVE_PROBABILITY = 0.1;

/** The assumed cost of the wait for a second wave, as a multiple of the least that the page can cost. */
const SECOND_WAVE_COST = 2;

/**
 * The most that the page may cost if its items lie in the shards at random, its second wave included, as a multiple of
 * the least that it can cost. With this bound, pages of skewed shards stay within 2.5 in `npm run bench`.
 */
const MAX_OVER_FLOOR = 2.25;

/**
 * How many items to ask each of `shards` shards for, so that together the shards most likely return the next `wanted`
 * items.
 *
 * Items lie in the shards at random. So the number of wanted items in a shard is binomial: it differs from the mean
 * share by about the square root of that share. The read is one block, the least that the store charges, if the share
 * and two deviations fit into one. Otherwise the read has the lowest cost in read units and in the wait for a second
 * wave. More items fill the rest of the last block. As long as the sizes of the items are unknown, the read is little
 * more than the share: an answer tells the sizes, and a page of large items is not read several times over.
 */
export function readSize(wanted: number, shards: number, sizes: ItemSizes): number {
  const share = wanted / shards;
  if (shards === 1 || share > LARGE_SHARE) return Math.min(MOST_ITEMS, Math.ceil(share + 2 * Math.sqrt(share)), wanted);
  const tail = shardTail(wanted, shards);
  // With fewer items, the worst item of the first wave would be so far after the end of the page that it would not be a
  // useful bound.
  const fewest = Math.min(tail.length, Math.ceil(share + Math.sqrt(share) / 2));
  const { mean } = sizes;
  if (mean === undefined) return fewest;

  // A sum of sizes varies. With two standard deviations of room, most sums stay within their blocks.
  const mostBlocks = (items: number): number =>
    Math.ceil((items * mean + 2 * Math.sqrt(items) * sizes.deviation) / BLOCK_BYTES);
  const filled = (items: number): number => {
    let most = items;
    while (most < wanted && mostBlocks(most + 1) === mostBlocks(items)) most += 1;
    return most;
  };
  if (mostBlocks(Math.ceil(share + 2 * Math.sqrt(share))) === 1) return filled(1);

  const floor = Math.max(shards, (wanted * mean) / BLOCK_BYTES);
  // A second wave reads the rest: a block of each shard that may have more items, and those items.
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

/** How many blocks so many items take. An item of unknown size is assumed to fill one. */
export function blocksOf(items: number, { mean = BLOCK_BYTES }: Pick<ItemSizes, 'mean'>): number {
  return Math.ceil((items * mean) / BLOCK_BYTES);
}

/** How many items one block holds, at least 1. */
export function itemsInBlock(sizes: Pick<ItemSizes, 'mean'>): number {
  return Math.max(1, itemsInBlocks(1, sizes));
}

/** How many items so many blocks hold. An item of unknown size is assumed to fill one. */
export function itemsInBlocks(blocks: number, { mean = BLOCK_BYTES }: Pick<ItemSizes, 'mean'>): number {
  return Math.floor((blocks * BLOCK_BYTES) / mean);
}

/**
 * If a filter hides nearly every item, reads grow by at most this factor at a time, not from a few items to a megabyte.
 */
const MAX_GROWTH = 4;

/** What the reads of one shard have returned so far. */
interface ShardYield {
  /** Items that the store has evaluated. */
  evaluated: number;
  /** Items that have passed the filter. */
  matched: number;
  /** The most items that a read has asked for. */
  largestLimit: number;
}

/**
 * How many items of a shard the store should evaluate so that about `wanted` of them pass the filter, if as many pass
 * as have passed so far.
 */
export function evaluatedFor(wanted: number, { evaluated, matched, largestLimit }: ShardYield): number {
  const estimate = Math.ceil((wanted * evaluated) / Math.max(matched, 1));
  return Math.min(MOST_ITEMS, Math.max(wanted, Math.min(estimate, MAX_GROWTH * largestLimit)));
}

/**
 * For n = 1, 2, ...: the probability that one shard of several holds at least n of the wanted items. The list ends at
 * the n for which it is unlikely that any shard holds that many.
 */
function shardTail(wanted: number, shards: number): number[] {
  const probabilities: number[] = [];
  let logOfExactly = wanted * Math.log1p(-1 / shards);
  let atLeast = 1;
  for (let items = 1; items <= wanted; items++) {
    // The sum is of logarithms because the first of these probabilities can be smaller than any double.
    atLeast -= Math.exp(logOfExactly);
    logOfExactly += Math.log((wanted - items + 1) / items) - Math.log(shards - 1);
    probabilities.push(Math.max(0, atLeast));
    if (shards * atLeast <= SECOND_WAVE_PROBABILITY) break;
  }
  return probabilities;
}
