import { productOfCodePoints } from '../../lib/core/keyspaces/product-of-code-points';
import { weightedShards } from '../../lib/core/planning/weighted-shards';
import { hashOfId, jumpConsistentHash } from '../../lib/core/sharding/calculated-shard';
import { randomShard } from '../../lib/core/sharding/random-shard';
import { shardIndexOf, uniformRanges } from '../../lib/core/stream-format/hash-key-ranges';
import { seededRandom } from '../../lib/testing/seeded-random';
import {
  busiestFirst,
  CALCULATED_SUFFIX,
  HASH_KEY_STRATEGIES,
  type KeyRecords,
  PRODUCT_SUFFIX,
  RANDOM_SUFFIX,
  type Strategy,
  WEIGHTED_SUFFIX,
} from './strategies';

/** Records by shard, for each number of shards: now, and after each doubling. */
export interface Placement extends Strategy {
  loads: number[][];
  /** The records of the busiest shard divided by the mean. If each value has its own shards, there are more shards than requested. */
  hottest: number[];
}

/**
 * If there are more values for each shard than this, the simulation leaves out the strategy that divides the shards by
 * weight.
 */
const VALUES_PER_SHARD = 50;

/** Places items as a stream of records, and keeps only a counter for each shard. */
export class ItemPlacements {
  private readonly random: number[][];
  private readonly calculated: number[][];
  private readonly product: number[][];
  private readonly draw: () => number;

  constructor(
    private readonly shardCounts: readonly number[],
    seed: number,
  ) {
    const empty = () => shardCounts.map((shards) => new Array<number>(shards).fill(0));
    [this.random, this.calculated, this.product] = [empty(), empty(), empty()];
    this.draw = seededRandom(seed);
  }

  add(id: string): void {
    const hash = hashOfId(id);
    for (let level = 0; level < this.shardCounts.length; level++) {
      const shards = this.shardCounts[level]!;
      this.random[level]![randomShard(shards, this.draw)]! += 1;
      this.calculated[level]![jumpConsistentHash(hash, shards)]! += 1;
      this.product[level]![productOfCodePoints(id, shards)]! += 1;
    }
  }

  placements(): Placement[] {
    return [
      placed(RANDOM_SUFFIX, this.random),
      placed(CALCULATED_SUFFIX, this.calculated),
      placed(PRODUCT_SUFFIX, this.product),
    ];
  }
}

/**
 * Places whole keys on a stream with each strategy. The stream starts with `shardCounts[0]` shards. The keys keep their hash keys when the
 * stream is resharded to the other counts.
 */
export function keyPlacements(keys: KeyRecords, shardCounts: readonly number[]): Placement[] {
  const rangesOf = shardCounts.map((shards) => uniformRanges(shards));
  const equal = keys.every(([, records]) => records === keys[0]![1]);
  return HASH_KEY_STRATEGIES.filter((strategy) => !(strategy.busiestFirst && equal)).map((strategy) => {
    const loads = shardCounts.map((shards) => new Array<number>(shards).fill(0));
    const hashKeyOf = strategy.assigner(shardCounts[0]!);
    for (const [n, [key, records]] of (strategy.busiestFirst ? busiestFirst(keys) : keys).entries()) {
      const hashKey = hashKeyOf(key, records, n);
      for (const [level, ranges] of rangesOf.entries()) loads[level]![shardIndexOf(hashKey, ranges)]! += records;
    }
    return placed(strategy, loads);
  });
}

/** Divides the shards among the keys, as values of an index, by weight. Returns nothing if there are too many values. */
export function weightedPlacement(keys: KeyRecords, shardCounts: readonly number[], seed: number): Placement[] {
  if (keys.length > shardCounts[0]! * VALUES_PER_SHARD) return [];
  const random = seededRandom(seed);
  const loads = shardCounts.map((shards) => {
    const counts = weightedShards({ shards, shares: Object.fromEntries(keys) });
    return keys.flatMap(([key, records]) => {
      const load = new Array<number>(counts[key]!).fill(0);
      for (let record = 0; record < records; record++) load[randomShard(load.length, random)]! += 1;
      return load;
    });
  });
  return [placed(WEIGHTED_SUFFIX, loads)];
}

function placed({ name, title, places }: Strategy, loads: number[][]): Placement {
  const hottest = loads.map((load) => {
    const records = load.reduce((sum, each) => sum + each, 0);
    return load.reduce((most, each) => Math.max(most, each), 0) / (records / load.length);
  });
  return { name, title, places, loads, hottest };
}
