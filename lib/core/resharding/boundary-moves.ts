import { binarySearch } from '../kernel/binary-search';
import { type HashKeyRange, uniformRanges } from '../stream-format/hash-key-ranges';
import { HASH_KEY_SPACE } from '../stream-format/hash-key-space';
import { MAX_SKEW } from './thresholds';

/** One shard becomes two shards: `[start, at - 1]` and `[at, end]`, both ends inclusive. */
export interface SplitShard {
  readonly type: 'split';
  readonly range: HashKeyRange;
  readonly at: bigint;
}

/** Two adjacent shards become one shard. */
export interface MergeShards {
  readonly type: 'merge';
  readonly left: HashKeyRange;
  readonly right: HashKeyRange;
}

/** One request that adds or removes one boundary between shards. */
export type BoundaryMove = SplitShard | MergeShards;

/**
 * A boundary may be up to 1/40 of the ideal width away from its ideal position. A shard with two such boundaries has a skew of
 * `MAX_SKEW`.
 */
const TOLERANCE_DIVISOR = BigInt(Math.round(2 / (MAX_SKEW - 1)));

/**
 * The splits and merges, in order, that divide a key space evenly into `shardCount` shards. The current shards may have any
 * ranges.
 *
 * A boundary near its ideal position stays. Every other boundary costs a merge, and every missing boundary costs a split. No
 * plan has fewer moves, because a move adds or removes only one boundary. Splits and merges alternate. So with the default of
 * `first`, the shard count never falls below the smaller of the current count and `shardCount`. The shard count never exceeds
 * the larger of these two counts by more than one.
 *
 * A plan that is made after some of the moves has exactly the remaining moves of the first plan. So a reshard can continue
 * after a crash without stored state.
 *
 * @param ranges the ranges of the current shards, contiguous and ascending over the whole key space
 * @param first which kind of move comes first if both kinds are needed. If a merge comes first, the stream needs no extra
 *   shard, and has one shard fewer for a while. By default, a stream with more than `shardCount` shards begins with a merge, so
 *   that a new plan continues the alternation
 */
export function boundaryMoves(
  ranges: readonly HashKeyRange[],
  shardCount: number,
  first: BoundaryMove['type'] = ranges.length > shardCount ? 'merge' : 'split',
): BoundaryMove[] {
  const ideal = uniformRanges(shardCount).slice(1);
  const actual = ranges.slice(1).map(({ startingHashKey }) => startingHashKey);
  const reach = HASH_KEY_SPACE / BigInt(shardCount) / TOLERANCE_DIVISOR;

  const kept = new Set<bigint>();
  const missing: bigint[] = [];
  let next = 0;
  for (const { startingHashKey: boundary } of ideal) {
    while (next < actual.length && actual[next]! < boundary - reach) next += 1;
    let nearest: bigint | undefined;
    for (; next < actual.length && actual[next]! <= boundary + reach; next += 1) {
      if (nearest === undefined || distance(actual[next]!, boundary) < distance(nearest, boundary))
        nearest = actual[next]!;
    }
    if (nearest === undefined) missing.push(boundary);
    else kept.add(nearest);
  }
  const surplus = actual.filter((boundary) => !kept.has(boundary));
  return alternate(new Boundaries(actual), missing, surplus, first);
}

function alternate(
  boundaries: Boundaries,
  missing: readonly bigint[],
  surplus: readonly bigint[],
  first: BoundaryMove['type'],
): BoundaryMove[] {
  const moves: BoundaryMove[] = [];
  for (let index = 0; index < Math.max(missing.length, surplus.length); index += 1) {
    if (first === 'merge' && index < surplus.length) moves.push(boundaries.merge(surplus[index]!));
    if (index < missing.length) moves.push(boundaries.split(missing[index]!));
    if (first === 'split' && index < surplus.length) moves.push(boundaries.merge(surplus[index]!));
  }
  return moves;
}

/** The boundaries between shards: the starts of all shards except the first. */
class Boundaries {
  constructor(private readonly sorted: bigint[]) {}

  split(at: bigint): SplitShard {
    const index = this.indexOf(at);
    const range = this.range(index);
    this.sorted.splice(index, 0, at);
    return { type: 'split', range, at };
  }

  merge(boundary: bigint): MergeShards {
    const index = this.indexOf(boundary);
    const move: MergeShards = { type: 'merge', left: this.range(index), right: this.range(index + 1) };
    this.sorted.splice(index, 1);
    return move;
  }

  private indexOf(boundary: bigint): number {
    return binarySearch(0, this.sorted.length, (index) => this.sorted[index]! >= boundary);
  }

  private range(shard: number): HashKeyRange {
    return {
      startingHashKey: shard === 0 ? 0n : this.sorted[shard - 1]!,
      endingHashKey: (shard === this.sorted.length ? HASH_KEY_SPACE : this.sorted[shard]!) - 1n,
    };
  }
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}
