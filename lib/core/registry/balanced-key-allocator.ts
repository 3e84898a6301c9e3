import { InvalidArgumentError, InvalidHashKeyError } from '../kernel/errors';
import { coveringRanges, type HashKeyRange, shardIndexOf } from '../stream-format/hash-key-ranges';
import { checkSpace, HASH_KEY_SPACE } from '../stream-format/hash-key-space';
import { balancedKey } from './balanced-key';
import { BalancedTree, lowerMiddle, upperMiddle } from './balanced-tree';
import { Lightest } from './lightest';
import { KeySpaceExhaustedError } from './registry-errors';
import { checkWeight } from './weight';

/** A hash key that has an owner, and the traffic of that owner. */
export interface WeightedHashKey {
  /** A hash key of one of the ranges. */
  hashKey: bigint;
  /**
   * The owner's traffic relative to other owners, greater than 0. An owner with three times the traffic has three times the
   * weight.
   */
  weight: number;
}

/** The state that a `BalancedKeyAllocator` starts with. */
export interface BalancedKeyAllocatorOptions {
  /**
   * The size of the key space, from 1 to 2^128.
   * @default the space ends where the last range ends; without ranges it is 2^128, the key space of Kinesis
   */
  space?: bigint;
  /**
   * The ranges of the stream's open shards, in any order. Each key of the space must be in exactly one range. Read the ranges
   * with ListShards: only a stream that was never resharded has the ranges of `uniformRanges`.
   * @default one range, which gives the key order of the article "Kinesis Hash Key Space Partitioning"
   */
  ranges?: readonly HashKeyRange[];
  /**
   * The keys that already have owners. A key without a weight has the weight 1.
   * @default no key has an owner
   */
  allocated?: Iterable<bigint | WeightedHashKey>;
}

/**
 * Allocates explicit hash keys so that their owners load the shards of a stream evenly, now and after the next split. Use it if
 * one process knows all owners. If several processes share the owners, use `HashKeyLedger`, which stores them.
 *
 * With the `ranges` of a stream's k shards, the next key comes from the lightest shard. So the mth owner never brings a shard
 * above ceil(m/k) owners, unless the other shards are full. Within a shard, keys come in the order of the tree of the article
 * "Kinesis Hash Key Space Partitioning": the middle of the interval, then the middle of its lighter half, and so on. So after
 * each shard is split in the middle, no shard has more than ceil(m/2k) owners. Without ranges, the whole space is one shard.
 *
 * The allocator allocates released keys again later. Releases can leave the shards uneven, and later allocations make them even
 * again. If too few allocations follow, use `rebalancePlan`, which returns the keys to move.
 *
 * With weights, the load of the heaviest shard is at most 2 - 1/k times the optimum if owners come in any order. It is at most
 * 4/3 - 1/(3k) times the optimum if the heaviest owners come first. Source: R. L. Graham, Bounds on Multiprocessing Timing
 * Anomalies, SIAM J. Appl. Math. 17 (1969).
 *
 * Each operation takes time logarithmic in the number of keys and shards. An allocated key takes 150 to 250 bytes of memory.
 */
export class BalancedKeyAllocator {
  private readonly ranges: readonly HashKeyRange[];
  private readonly trees: readonly BalancedTree[];
  private readonly lightest: Lightest;
  /**
   * The shards in the order of `balancedKey`. If several shards have the lowest load, the next key comes from the first of these
   * shards in this order. So the shards stay even after a merge.
   */
  private readonly shardsInOrder: readonly number[];
  private readonly positionOf: readonly number[];

  /**
   * @throws InvalidHashKeyRangesError if the ranges leave a gap, overlap, or do not reach the end of the space
   * @throws InvalidHashKeyError if no range holds an allocated key, or if a key is listed twice
   * @throws InvalidWeightError if a weight is not a number from 1e-9 to 2^53 - 1
   */
  constructor({ space, ranges, allocated = [] }: BalancedKeyAllocatorOptions = {}) {
    if (space !== undefined) checkSpace(space);
    this.ranges =
      ranges === undefined
        ? [{ startingHashKey: 0n, endingHashKey: (space ?? HASH_KEY_SPACE) - 1n }]
        : coveringRanges(ranges, space);
    const middle = ranges === undefined ? lowerMiddle : upperMiddle;
    this.trees = this.ranges.map(
      ({ startingHashKey, endingHashKey }) => new BalancedTree(startingHashKey, endingHashKey + 1n, middle),
    );
    const shards = this.ranges.length;
    this.lightest = new Lightest(shards);
    this.shardsInOrder = Array.from({ length: shards }, (_, position) => Number(balancedKey(position, BigInt(shards))));
    this.positionOf = this.shardsInOrder.reduce<number[]>((positions, shard, position) => {
      positions[shard] = position;
      return positions;
    }, []);
    let index = 0;
    if (typeof Object(allocated)[Symbol.iterator] !== 'function') {
      throw new InvalidArgumentError('allocated', allocated, 'an iterable of hash keys');
    }
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
   * Allocates the next key, and returns it.
   *
   * @param weight the new owner's traffic relative to other owners
   * @default weight is 1
   * @throws InvalidWeightError if the weight is not a number from 1e-9 to 2^53 - 1
   * @throws KeySpaceExhaustedError if every key is allocated
   */
  allocate(weight = 1): bigint {
    checkWeight('weight', weight);
    if (this.lightest.load === Number.POSITIVE_INFINITY) throw new KeySpaceExhaustedError(this.size);
    const shard = this.shardsInOrder[this.lightest.index]!;
    const hashKey = this.trees[shard]!.take(weight);
    this.updateLoad(shard);
    return hashKey;
  }

  /**
   * Allocates a given key. Use it for a key that another allocator has allocated.
   *
   * @param weight the owner's traffic relative to other owners
   * @default weight is 1
   * @throws InvalidHashKeyError if no range holds the key, or if the key is allocated
   * @throws InvalidWeightError if the weight is not a number from 1e-9 to 2^53 - 1
   */
  claim(hashKey: bigint, weight = 1): void {
    if (this.has(hashKey)) throw new InvalidHashKeyError('hashKey', hashKey, 'a key that is not allocated');
    this.allocateKey('hashKey', hashKey, weight);
  }

  /** Frees a key for another owner. Returns false if the key is not allocated. */
  release(hashKey: bigint): boolean {
    const shard = this.shardOf(hashKey);
    if (shard === undefined) return false;
    this.trees[shard]!.remove(hashKey);
    this.updateLoad(shard);
    return true;
  }

  /** The shard of an allocated key. Undefined if the key is not allocated. */
  private shardOf(hashKey: bigint): number | undefined {
    if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey > this.ranges.at(-1)!.endingHashKey) return undefined;
    const shard = shardIndexOf(hashKey, this.ranges);
    return this.trees[shard]!.has(hashKey) ? shard : undefined;
  }

  private allocateKey(field: string, hashKey: bigint, weight: number): void {
    const last = this.ranges.at(-1)!.endingHashKey;
    if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey > last) {
      throw new InvalidHashKeyError(field, hashKey, `a hash key of one of the ranges, from 0 to ${last}`);
    }
    checkWeight(`${field}.weight`, weight);
    const shard = shardIndexOf(hashKey, this.ranges);
    const tree = this.trees[shard]!;
    const { size } = tree;
    tree.add(hashKey, weight);
    if (tree.size === size) throw new InvalidHashKeyError(field, hashKey, 'listed once');
    this.updateLoad(shard);
  }

  private updateLoad(shard: number): void {
    const tree = this.trees[shard]!;
    this.lightest.update(this.positionOf[shard]!, tree.full ? Number.POSITIVE_INFINITY : tree.weight);
  }
}
