import { InvalidArgumentError, InvalidHashKeyError } from '../kernel/errors';
import { coveringRanges, type HashKeyRange, shardIndexOf } from '../stream-format/hash-key-ranges';
import { BalancedTree, upperMiddle } from './balanced-tree';
import { checkOwner, type HashKeyOwner } from './hash-key-owner';
import { Lightest } from './lightest';
import { KeySpaceExhaustedError } from './registry-errors';
import { checkWeight } from './weight';

/** The move of one owner to another hash key, and so to another shard. */
export interface RebalanceMove {
  /** The name of the owner. */
  owner: string;
  /** The owner's weight. */
  weight: number;
  /** The hash key that the owner has now. */
  fromHashKey: bigint;
  /** The hash key that the owner will have. */
  toHashKey: bigint;
  /** The 0-based index of the shard that the owner leaves, among the ranges in ascending order. */
  fromShard: number;
  /** The 0-based index of the shard that the owner goes to, among the ranges in ascending order. */
  toShard: number;
  /** The load of the heaviest shard after this move and all moves before it. */
  heaviest: number;
}

/** The moves that `rebalancePlan` proposes. A plan does not change the registry. */
export interface RebalancePlan {
  /** Moves from the heaviest shard come first, so you can also make only the first moves of a plan. */
  moves: RebalanceMove[];
  /** The highest load of a shard after all moves of the plan. A load is the sum of the weights of owners. */
  bound: number;
  /** The load of the heaviest shard now. */
  heaviest: number;
}

/** The tolerance for rounding errors: sums of the same weights in different orders can differ. */
const ROUNDING = 1e-9;

interface PlacedOwner extends HashKeyOwner {
  shard: number;
}

/**
 * Computes the moves that make the loads of a stream's shards even again. Use it after owners were released or after the stream
 * was resharded.
 *
 * After all moves of a plan, no shard has a load above the bound. The bound is the load of the heaviest shard if all owners
 * were placed again from the start, heaviest first, each on the lightest shard. With equal weights, the bound is ceil(m/k) for
 * m owners on k shards, which is optimal. With any weights, the bound is at most 4/3 - 1/(3k) times the optimum (Graham, 1969).
 * A shard within the bound keeps its owners, unless the owners of other shards do not fit.
 *
 * With equal weights, no plan has fewer moves: each shard gives away only as many owners as it has above the bound. With
 * different weights, the smallest number of moves is as hard to compute as the partition problem, and the plan may have more
 * moves. Each shard above the bound gives away as few owners as possible, mostly its heaviest owners, and the plan places these
 * owners heaviest first. If an owner does not fit, the plan also places the heaviest of the other owners again.
 *
 * To plan before a split, pass the ranges that the shards will have after the split. A plan never gives the old key of an owner
 * to another owner.
 *
 * @param owners all owners of the stream
 * @param ranges the ranges of its open shards, in any order
 * @throws InvalidArgumentError, InvalidHashKeyError or InvalidWeightError if an owner is invalid, if no range holds its key, or
 *   if an owner or a key is listed twice
 * @throws InvalidHashKeyRangesError if the ranges leave a gap or overlap
 * @throws KeySpaceExhaustedError if a shard has fewer keys than the plan needs
 */
export function rebalancePlan(owners: Iterable<HashKeyOwner>, ranges: readonly HashKeyRange[]): RebalancePlan {
  const ascending = coveringRanges(ranges);
  const trees = ascending.map(
    ({ startingHashKey, endingHashKey }) => new BalancedTree(startingHashKey, endingHashKey + 1n, upperMiddle),
  );
  const placed = placedOwners(owners, ascending, trees);
  const heaviestFirst = placed.toSorted((a, b) => b.weight - a.weight);
  const bound = heaviestOf(loadsAfter(new Array<number>(trees.length).fill(0), heaviestFirst).loads);
  const targets = newShards(placed, heaviestFirst, trees, bound * (1 + ROUNDING));
  return { moves: movesInOrder(placed, targets, trees), bound, heaviest: heaviestOf(loadsOf(placed, trees.length)) };
}

function placedOwners(
  owners: Iterable<HashKeyOwner>,
  ranges: readonly HashKeyRange[],
  trees: readonly BalancedTree[],
): PlacedOwner[] {
  const names = new Set<string>();
  const last = ranges.at(-1)!.endingHashKey;
  return Array.from(owners, ({ owner, hashKey, weight }, index) => {
    const field = `owners[${index}]`;
    checkOwner(`${field}.owner`, owner);
    checkWeight(`${field}.weight`, weight);
    if (names.has(owner)) throw new InvalidArgumentError(`${field}.owner`, owner, 'listed once');
    names.add(owner);
    if (typeof hashKey !== 'bigint' || hashKey < 0n || hashKey > last) {
      throw new InvalidHashKeyError(`${field}.hashKey`, hashKey, `a hash key of one of the ranges, from 0 to ${last}`);
    }
    const shard = shardIndexOf(hashKey, ranges);
    if (trees[shard]!.has(hashKey)) throw new InvalidHashKeyError(`${field}.hashKey`, hashKey, 'listed once');
    trees[shard]!.add(hashKey, weight);
    return { owner, hashKey, weight, shard };
  });
}

/** Maps each owner that leaves its shard to its new shard, so that every shard is within the limit. */
function newShards(
  placed: readonly PlacedOwner[],
  heaviestFirst: readonly PlacedOwner[],
  trees: readonly BalancedTree[],
  limit: number,
): Map<PlacedOwner, number> {
  const leaving = new Set(ownersInExcess(placed, trees, limit));
  for (;;) {
    const staying = placed.filter((owner) => !leaving.has(owner));
    const movers = heaviestFirst.filter((owner) => leaving.has(owner));
    const { loads, shards } = loadsAfter(loadsOf(staying, trees.length), movers);
    if (heaviestOf(loads) <= limit) return new Map(movers.map((owner, index) => [owner, shards[index]!]));
    const more = Math.ceil(leaving.size / 16);
    for (const owner of heaviestFirst.filter((other) => !leaving.has(other)).slice(0, more)) leaving.add(owner);
  }
}

/** For each shard, the smallest set of owners that must leave the shard so that its load is within the limit. */
function ownersInExcess(
  placed: readonly PlacedOwner[],
  trees: readonly BalancedTree[],
  limit: number,
): readonly PlacedOwner[] {
  const ofShard = trees.map((): PlacedOwner[] => []);
  for (const owner of placed) ofShard[owner.shard]!.push(owner);
  return trees.flatMap((tree, shard) => {
    let excess = tree.weight - limit;
    if (excess <= 0) return [];
    const candidates = newestFirst(ofShard[shard]!, tree).sort((a, b) => b.weight - a.weight);
    let taken = 0;
    while (candidates[taken]!.weight < excess) excess -= candidates[taken++]!.weight;
    const enough = candidates.findLast(({ weight }) => weight >= excess)!.weight;
    return [
      ...candidates.slice(0, taken),
      candidates.find(({ weight }, index) => index >= taken && weight === enough)!,
    ];
  });
}

/**
 * The owners in the reverse of the order in which the tree allocates their keys. If the first owners of this list leave the
 * shard, the remaining keys are even in the shard.
 */
function newestFirst(owners: readonly PlacedOwner[], tree: BalancedTree): PlacedOwner[] {
  const ofKey = new Map(owners.map((owner) => [String(owner.hashKey), owner]));
  const order = owners.map(() => {
    const { hashKey } = ofKey.get(String(tree.last()))!;
    tree.remove(hashKey);
    return ofKey.get(String(hashKey))!;
  });
  for (const { hashKey, weight } of owners) tree.add(hashKey, weight);
  return order;
}

/** Places one owner after the other, each on the shard that is the lightest at that moment. */
function loadsAfter(before: readonly number[], owners: readonly PlacedOwner[]): { loads: number[]; shards: number[] } {
  const loads = [...before];
  const lightest = new Lightest(loads.length);
  loads.forEach((load, shard) => {
    lightest.update(shard, load);
  });
  const shards = owners.map(({ weight }) => {
    const shard = lightest.index;
    loads[shard]! += weight;
    lightest.update(shard, loads[shard]!);
    return shard;
  });
  return { loads, shards };
}

function loadsOf(owners: readonly PlacedOwner[], shards: number): number[] {
  const loads = new Array<number>(shards).fill(0);
  for (const { shard, weight } of owners) loads[shard]! += weight;
  return loads;
}

function heaviestOf(loads: readonly number[]): number {
  return loads.reduce((heaviest, load) => Math.max(heaviest, load), 0);
}

/** Orders the moves. The next move always leaves the heaviest of the shards that still have owners to move. */
function movesInOrder(
  placed: readonly PlacedOwner[],
  targets: ReadonlyMap<PlacedOwner, number>,
  trees: readonly BalancedTree[],
): RebalanceMove[] {
  const loads = loadsOf(placed, trees.length);
  const heaviest = new Lightest(loads.length);
  const nextSource = new Lightest(loads.length);
  const waiting = loads.map((): PlacedOwner[] => []);
  for (const [owner, shard] of [...targets].reverse()) if (shard !== owner.shard) waiting[owner.shard]!.push(owner);
  const updateLoad = (shard: number): void => {
    heaviest.update(shard, -loads[shard]!);
    nextSource.update(shard, waiting[shard]!.length > 0 ? -loads[shard]! : Number.POSITIVE_INFINITY);
  };
  loads.forEach((_, shard) => {
    updateLoad(shard);
  });
  const moves: RebalanceMove[] = [];
  while (nextSource.load !== Number.POSITIVE_INFINITY) {
    const mover = waiting[nextSource.index]!.pop()!;
    const { owner, weight, hashKey: fromHashKey, shard: fromShard } = mover;
    const toShard = targets.get(mover)!;
    loads[fromShard]! -= weight;
    loads[toShard]! += weight;
    updateLoad(fromShard);
    updateLoad(toShard);
    if (trees[toShard]!.full) throw new KeySpaceExhaustedError(trees[toShard]!.size);
    const toHashKey = trees[toShard]!.take(weight);
    moves.push({ owner, weight, fromHashKey, toHashKey, fromShard, toShard, heaviest: -heaviest.load });
  }
  return moves;
}
