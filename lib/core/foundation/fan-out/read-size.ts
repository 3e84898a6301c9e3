import type { ItemSizes } from './item-sizes';

/**
 * What an eventually consistent read is charged by: half a read unit for each 4 KB, begun or full.
 * Source: the DynamoDB developer guide, "Read consumption".
 */
const BLOCK_BYTES = 4_096;

/** Beyond it a read is left to the store's own bound, in DynamoDB a megabyte. */
const LARGEST_LIMIT = 10_000;

/** As long as nothing is known of the items' sizes, a page may need a second wave of reads so often. */
const SECOND_WAVE_PROBABILITY = 0.1;

/** What the wait for a second wave is taken to cost: as much as reading so many times what the page takes at least. */
const SECOND_WAVE_COST = 2;

/** The most that may be read, second wave included: as many times what the page takes at least. */
const MOST_OVER_FLOOR = 2.5;

/**
 * How many items to ask of each of `shards` shards so that together they most likely hold the next `wanted` items.
 *
 * Items lie in the shards at random, so a shard holds a binomial number of the wanted ones: their mean share, give or
 * take its square root. While nothing is known of their size, the read is as large as makes a second wave rare. Then, if
 * the share and two deviations fit one block, the least that is charged, the read is one block. Otherwise it costs least,
 * counting read units and the wait for a second wave. What is left of the last block is filled with more items.
 *
 * @returns undefined for more than the store gives at once anyway
 */
export function readSize(wanted: number, shards: number, sizes: ItemSizes): number | undefined {
  if (wanted > LARGEST_LIMIT) return undefined;
  const tail = shardTail(wanted, shards);
  const { mean } = sizes;
  if (mean === undefined) return tail.length;

  // A sum of sizes varies; two standard deviations of room keep most of them within their blocks.
  const blocksOf = (items: number): number =>
    Math.ceil((items * mean + 2 * Math.sqrt(items) * sizes.deviation) / BLOCK_BYTES);
  const filled = (items: number): number => {
    let most = items;
    while (most < wanted && blocksOf(most + 1) === blocksOf(items)) most += 1;
    return most;
  };
  const share = wanted / shards;
  if (blocksOf(Math.ceil(share + 2 * Math.sqrt(share))) === 1) return filled(1);

  const floor = Math.max(shards, (wanted * mean) / BLOCK_BYTES);
  // What was not asked for is read in a second wave: a block for each shard that may have more, and its further items.
  const further = tail.map(() => 0);
  for (let index = tail.length - 3; index >= 0; index--) further[index] = further[index + 1]! + tail[index + 2]!;
  // With fewer, the worst item of the first wave stands so far behind the page's end that it bounds nothing.
  const fewest = Math.min(tail.length, Math.ceil(share + Math.sqrt(share) / 2));
  let size = fewest;
  let least = Number.POSITIVE_INFINITY;
  for (let items = fewest; items <= tail.length; items++) {
    const atLeast = tail[items - 1]!;
    const blocks = blocksOf(items) + atLeast + (further[items - 1]! * mean) / BLOCK_BYTES;
    const overFloor = (shards * blocks) / floor;
    const cost = overFloor + SECOND_WAVE_COST * (1 - (1 - atLeast) ** shards);
    if (cost >= least || (overFloor > MOST_OVER_FLOOR && items > fewest)) continue;
    size = items;
    least = cost;
  }
  return filled(size);
}

/** A filter that hides nearly everything is met with larger reads, but with no leap from a handful to a megabyte. */
const LARGEST_GROWTH = 4;

/** What has been seen of one shard. */
export interface ShardYield {
  /** Items that were evaluated, and those of them that passed the filter. */
  evaluated: number;
  matched: number;
  /** The most items a read has asked for so far. */
  largestLimit: number;
}

/**
 * How many items of a shard to evaluate so that about `wanted` of them pass the filter, judged by what has passed so far.
 *
 * @returns undefined for more than the store gives at once anyway
 */
export function evaluatedFor(wanted: number, { evaluated, matched, largestLimit }: ShardYield): number | undefined {
  const estimate = matched === evaluated ? wanted : Math.ceil((wanted * evaluated) / Math.max(matched, 1));
  const limit = Math.max(wanted, Math.min(estimate, LARGEST_GROWTH * largestLimit));
  return limit > LARGEST_LIMIT ? undefined : limit;
}

/**
 * For n = 1, 2, ...: the probability that one shard of several holds at least n of the wanted items. Ends at the n for
 * which it is unlikely that any shard holds so many.
 */
function shardTail(wanted: number, shards: number): number[] {
  const probabilities: number[] = [];
  let logOfExactly = wanted * Math.log1p(-1 / shards);
  let atLeast = 1;
  for (let items = 1; items <= wanted; items++) {
    // In logarithms, for the first of these probabilities can be smaller than any double.
    atLeast -= Math.exp(logOfExactly);
    logOfExactly += Math.log((wanted - items + 1) / items) - Math.log(shards - 1);
    probabilities.push(Math.max(0, atLeast));
    if (shards * atLeast <= SECOND_WAVE_PROBABILITY) break;
  }
  return probabilities;
}
