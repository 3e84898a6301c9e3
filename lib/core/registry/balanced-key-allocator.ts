import { InvalidHashKeyError } from '../foundation/errors';
import { coveringRanges, type HashKeyRange, shardIndexOf } from '../foundation/hash-key-ranges';
import { checkSpace, HASH_KEY_SPACE } from '../foundation/hash-key-space';
import { balancedKey } from './balanced-key';
import { BalancedTree, lowerMiddle, upperMiddle } from './balanced-tree';
import { Lightest } from './lightest';
import { KeySpaceExhaustedError } from './registry-errors';
import { checkWeight } from './weight';

/** A hash key that an owner has, and how much traffic the owner brings. */
export interface WeightedHashKey {
  hashKey: bigint;
  /** Relative to the others: an owner with three times the traffic weighs three times as much. Above 0. */
  weight: number;
}

/** What a `BalancedKeyAllocator` starts from. */
export interface BalancedKeyAllocatorOptions {
  /**
   * Size of the key space.
   * @default the end of the last range; without ranges 2^128, all that Kinesis has
   */
  space?: bigint;
  /**
   * The ranges of the stream's open shards, in any order: of any number and widths, but covering the space once. Read
   * them with ListShards; only a stream that was never resharded has those that `uniformRanges` computes.
   * @default one shard, and keys in the seed's order
   */
  ranges?: readonly HashKeyRange[];
  /**
   * Keys that have owners already. A bare key weighs 1.
   * @default none
   */
  allocated?: Iterable<bigint | WeightedHashKey>;
}

/**
 * Hands out explicit hash keys so that the owners who get them load the shards of a stream evenly, now and after the next
 * split.
 *
 * With the `ranges` of a stream's k shards, the next key is one of the lightest shard's: the mth owner never raises a
 * shard above ceil(m/k) owners, as long as other shards have keys left. Within the shard, and without ranges in the whole
 * space, the next key is the one that the seed's tree has next: the middle, then the middle of whichever half is lighter,
 * and so on. So after every shard is split in the middle, none has more than ceil(m/2k).
 *
 * Released keys are handed out again when their turn comes, and what they leave uneven is evened out by the allocations
 * that follow. Keys that stay where they are can also be too uneven for that: `rebalancePlan` says which to move.
 *
 * With weights, the heaviest shard carries at most 2 - 1/k times the least possible load if owners come in any order,
 * and at most 4/3 - 1/(3k) times if the heaviest come first.
 * Source: R. L. Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17 (1969).
 *
 * A step takes time logarithmic in the number of keys and shards; a key takes 150 to 250 bytes of memory.
 */
export class BalancedKeyAllocator {
  private readonly ranges: readonly HashKeyRange[];
  private readonly trees: readonly BalancedTree[];
  private readonly lightest: Lightest;
  /** Of equally light shards the next is the next in balanced order, so that they are also even after a merge. */
  private readonly shardAt: readonly number[];
  private readonly turnOf: readonly number[];

  /**
   * @throws InvalidHashKeyRangesError if the ranges leave a gap, overlap, or do not cover the space
   * @throws InvalidHashKeyError if an allocated key is outside every range, or listed twice
   * @throws InvalidWeightError if a weight is not a number above 0
   */
  constructor({ space, ranges, allocated = [] }: BalancedKeyAllocatorOptions = {}) {
    if (space !== undefined) checkSpace(space);
    this.ranges =
      ranges === undefined
        ? [{ startingHashKey: 0n, endingHashKey: (space ?? HASH_KEY_SPACE) - 1n }]
        : coveringRanges('ranges', ranges, space);
    const middle = ranges === undefined ? lowerMiddle : upperMiddle;
    this.trees = this.ranges.map(
      ({ startingHashKey, endingHashKey }) => new BalancedTree(startingHashKey, endingHashKey + 1n, middle),
    );
    const shards = this.ranges.length;
    this.lightest = new Lightest(shards);
    this.shardAt = Array.from({ length: shards }, (_, turn) => Number(balancedKey(turn, BigInt(shards))));
    this.turnOf = this.shardAt.reduce<number[]>((turns, shard, turn) => {
      turns[shard] = turn;
      return turns;
    }, []);
    let index = 0;
    for (const key of allocated) {
      const { hashKey, weight } = typeof key === 'object' && key !== null ? key : { hashKey: key, weight: 1 };
      this.allocateKey(`allocated[${index++}]`, hashKey, weight);
    }
  }

  /** How many keys are allocated. */
  get size(): number {
    return this.trees.reduce((size, tree) => size + tree.size, 0);
  }

  /** Whether the key is allocated. */
  has(hashKey: bigint): boolean {
    return this.shardOf(hashKey) !== undefined;
  }

  /**
   * Allocates the next key.
   *
   * @param weight the new owner's traffic, relative to the others'
   * @throws InvalidWeightError if the weight is not a number above 0
   * @throws KeySpaceExhaustedError if every key is allocated
   */
  allocate(weight = 1): bigint {
    checkWeight('weight', weight);
    if (this.lightest.load === Number.POSITIVE_INFINITY) throw new KeySpaceExhaustedError(this.size);
    const shard = this.shardAt[this.lightest.index]!;
    const hashKey = this.trees[shard]!.take(weight);
    this.weigh(shard);
    return hashKey;
  }

  /**
   * Allocates this very key, which somebody else handed out.
   *
   * @param weight the owner's traffic, relative to the others'
   * @throws InvalidHashKeyError if the key is outside every range or allocated
   * @throws InvalidWeightError if the weight is not a number above 0
   */
  claim(hashKey: bigint, weight = 1): void {
    if (this.has(hashKey)) throw new InvalidHashKeyError('hashKey', hashKey, 'a key that is not allocated');
    this.allocateKey('hashKey', hashKey, weight);
  }

  /** Frees a key for another owner. False if it is not allocated. */
  release(hashKey: bigint): boolean {
    const shard = this.shardOf(hashKey);
    if (shard === undefined) return false;
    this.trees[shard]!.remove(hashKey);
    this.weigh(shard);
    return true;
  }

  /** The shard that has the key allocated. */
  private shardOf(hashKey: bigint): number | undefined {
    if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey > this.ranges.at(-1)!.endingHashKey) return undefined;
    const shard = shardIndexOf(hashKey, this.ranges);
    return this.trees[shard]!.has(hashKey) ? shard : undefined;
  }

  private allocateKey(field: string, hashKey: bigint, weight: number): void {
    const last = this.ranges.at(-1)!.endingHashKey;
    if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey > last) {
      throw new InvalidHashKeyError(field, hashKey, `a hash key within a range, from 0 to ${last}`);
    }
    checkWeight(`${field}.weight`, weight);
    const shard = shardIndexOf(hashKey, this.ranges);
    const tree = this.trees[shard]!;
    const { size } = tree;
    tree.add(hashKey, weight);
    if (tree.size === size) throw new InvalidHashKeyError(field, hashKey, 'listed once');
    this.weigh(shard);
  }

  private weigh(shard: number): void {
    const tree = this.trees[shard]!;
    this.lightest.update(this.turnOf[shard]!, tree.full ? Number.POSITIVE_INFINITY : tree.weight);
  }
}
