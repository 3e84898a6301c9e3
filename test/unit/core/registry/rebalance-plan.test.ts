import fc from 'fast-check';
import {
  BalancedKeyAllocator,
  type HashKeyOwner,
  KeySpaceExhaustedError,
  rebalancePlan,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';
import { randomRuns } from '../../../support/random-runs';

fc.configureGlobal({ numRuns: randomRuns(100) });

const SPACE = 1_200n;

/** One owner for each pair of a shard and a weight. */
function ownersOn(placement: readonly (readonly [shard: number, weight: number])[], shards: number): HashKeyOwner[] {
  const start = uniformRanges(shards, SPACE).map(({ startingHashKey }) => startingHashKey);
  return placement.map(([shard, weight], index) => {
    return { owner: `owner-${index}`, hashKey: start[shard % shards]! + BigInt(index), weight };
  });
}

function loads(owners: readonly HashKeyOwner[], shards: number): number[] {
  const ranges = uniformRanges(shards, SPACE);
  const sums = new Array<number>(shards).fill(0);
  for (const { hashKey, weight } of owners) sums[shardIndexOf(hashKey, ranges)]! += weight;
  return sums;
}

function moved(
  owners: readonly HashKeyOwner[],
  moves: readonly { owner: string; toHashKey: bigint }[],
): HashKeyOwner[] {
  const keys = new Map(moves.map(({ owner, toHashKey }) => [owner, toHashKey]));
  return owners.map((owner) => ({ ...owner, hashKey: keys.get(owner.owner) ?? owner.hashKey }));
}

/**
 * The minimum number of moves after which the load of every shard is within the bound, from a search over all
 * placements.
 */
function fewestMoves(owners: readonly HashKeyOwner[], shards: number, bound: number): number {
  const ranges = uniformRanges(shards, SPACE);
  const home = owners.map(({ hashKey }) => shardIndexOf(hashKey, ranges));
  const place = (index: number, sums: readonly number[], moves: number): number => {
    if (Math.max(...sums) > bound) return Number.POSITIVE_INFINITY;
    if (index === owners.length) return moves;
    return Math.min(
      ...sums.map((sum, shard) =>
        place(index + 1, sums.with(shard, sum + owners[index]!.weight), moves + Number(shard !== home[index])),
      ),
    );
  };
  return place(0, new Array<number>(shards).fill(0), 0);
}

/** The minimum load of the heaviest shard. */
function leastPossible(owners: readonly HashKeyOwner[], shards: number): number {
  const place = (index: number, sums: readonly number[]): number =>
    index === owners.length
      ? Math.max(...sums)
      : Math.min(...sums.map((sum, shard) => place(index + 1, sums.with(shard, sum + owners[index]!.weight))));
  return place(0, new Array<number>(shards).fill(0));
}

const shardCounts = fc.integer({ min: 1, max: 3 });

function placements(weights: fc.Arbitrary<number>, maxLength: number) {
  return fc.array(fc.tuple(fc.nat({ max: 11 }), weights), { maxLength });
}

describe('rebalancePlan', () => {
  test('contains no moves directly after owners were allocated', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 60 }), (shards, count) => {
        const ranges = uniformRanges(shards);
        const allocator = new BalancedKeyAllocator({ ranges });
        const owners = Array.from({ length: count }, (_, index) => {
          return { owner: String(index), hashKey: allocator.allocate(), weight: 1 };
        });
        expect(rebalancePlan(owners, ranges).moves).toEqual([]);
      }),
    );
  });

  test('leaves at most ceil(m/k) of m equal owners on each of k shards', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), placements(fc.constant(1), 60), (shards, placement) => {
        const owners = ownersOn(placement, shards);
        const { moves, bound } = rebalancePlan(owners, uniformRanges(shards, SPACE));
        expect(bound).toBe(Math.ceil(owners.length / shards));
        expect(Math.max(...loads(moved(owners, moves), shards))).toBeLessThanOrEqual(bound);
      }),
    );
  });

  test('contains the minimum number of moves for equal owners', () => {
    fc.assert(
      fc.property(shardCounts, placements(fc.constant(1), 7), (shards, placement) => {
        const owners = ownersOn(placement, shards);
        const { moves, bound } = rebalancePlan(owners, uniformRanges(shards, SPACE));
        expect(moves).toHaveLength(fewestMoves(owners, shards, bound));
      }),
    );
  });

  test('reduces the load of every shard to a bound of at most 4/3 of the minimum, for any weights', () => {
    fc.assert(
      fc.property(shardCounts, placements(fc.integer({ min: 1, max: 20 }), 7), (shards, placement) => {
        const owners = ownersOn(placement, shards);
        const { moves, bound } = rebalancePlan(owners, uniformRanges(shards, SPACE));
        expect(Math.max(...loads(moved(owners, moves), shards))).toBeLessThanOrEqual(bound);
        expect(bound).toBeLessThanOrEqual((4 / 3 - 1 / (3 * shards)) * leastPossible(owners, shards) + 1e-9);
        expect(moves.length).toBeGreaterThanOrEqual(fewestMoves(owners, shards, bound));
      }),
    );
  });

  test('keeps loads within the bound even if the weights have rounding errors', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        placements(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), 40),
        (shards, placement) => {
          const owners = ownersOn(placement, shards);
          const { moves, bound } = rebalancePlan(owners, uniformRanges(shards, SPACE));
          expect(Math.max(...loads(moved(owners, moves), shards))).toBeLessThanOrEqual(bound * (1 + 1e-8));
        },
      ),
    );
  });

  test('gives each moved owner a new key that no owner has now or had before the plan', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        placements(fc.integer({ min: 1, max: 5 }), 40),
        (shards, placement) => {
          const owners = ownersOn(placement, shards);
          const { moves } = rebalancePlan(owners, uniformRanges(shards, SPACE));
          const keys = [...owners.map(({ hashKey }) => hashKey), ...moves.map(({ toHashKey }) => toHashKey)];
          expect(new Set(keys).size).toBe(keys.length);
          for (const { owner, fromHashKey, toHashKey, fromShard, toShard } of moves) {
            const ranges = uniformRanges(shards, SPACE);
            expect(owners.find((other) => other.owner === owner)!.hashKey).toBe(fromHashKey);
            expect([fromHashKey, toHashKey].map((key) => shardIndexOf(key, ranges))).toEqual([fromShard, toShard]);
            expect(fromShard).not.toBe(toShard);
          }
        },
      ),
    );
  });

  test('does not give a moved owner the key of an owner that stays on the shard', () => {
    const placement = [5, 5, 4, 6].map((weight, index) => [index < 2 ? 1 : 0, weight] as const);
    const [stays, ...others] = ownersOn(placement, 3);
    const middle = 600n;
    const { moves } = rebalancePlan([{ ...stays!, hashKey: middle }, ...others], uniformRanges(3, SPACE));
    expect(moves.map(({ fromShard, toShard }) => `${fromShard} to ${toShard}`)).toEqual(['0 to 1', '1 to 2']);
    expect(moves[0]!.toHashKey).not.toBe(middle);
  });

  test('starts with the shard that has the highest load, and reports the highest load after each move', () => {
    const owners = ownersOn([...new Array(3).fill([0, 1]), ...new Array(6).fill([1, 1])], 3);
    const { moves, heaviest } = rebalancePlan(owners, uniformRanges(3, SPACE));
    expect(heaviest).toBe(6);
    expect(moves.map(({ fromShard, toShard, heaviest: after }) => [fromShard, toShard, after])).toEqual([
      [1, 2, 5],
      [1, 2, 4],
      [1, 2, 3],
    ]);
  });

  test.each([4, 5])(
    'moves one owner of weight %d instead of several light owners, and reports the highest load after this move',
    (heavy) => {
      for (let at = 0; at < 5; at++) {
        const placement = Array.from({ length: 5 }, (_, index) => [0, index === at ? heavy : 1] as const);
        const { moves } = rebalancePlan(ownersOn(placement, 2), uniformRanges(2, SPACE));
        expect(moves.map(({ owner, heaviest }) => [owner, heaviest])).toEqual([[`owner-${at}`, heavy]]);
      }
    },
  );

  test('can plan the moves of 20,000 owners that are all on one of 100 shards', () => {
    const owners = Array.from({ length: 20_000 }, (_, index) => {
      return { owner: String(index), hashKey: BigInt(index), weight: 1 };
    });
    expect(rebalancePlan(owners, uniformRanges(100)).moves).toHaveLength(19_800);
  });

  const owner = { owner: 'a', hashKey: 1n, weight: 1 };
  test.each<[string, HashKeyOwner[], string]>([
    ['an empty name', [{ ...owner, owner: '' }], 'ARGUMENT] owners[0].owner must be a string of 1 to 256 characters'],
    ['the name of another owner', [owner, { ...owner, hashKey: 2n }], 'ARGUMENT] owners[1].owner must be listed'],
    ['the key of another owner', [owner, { ...owner, owner: 'b' }], 'HASH_KEY] owners[1].hashKey must be listed'],
    ...[SPACE, -1n, 7 as never].map((hashKey): [string, HashKeyOwner[], string] => [
      `the key ${hashKey}`,
      [{ ...owner, hashKey }],
      'HASH_KEY] owners[0].hashKey must be a hash key of one of the ranges',
    ]),
    ['the weight 0', [{ ...owner, weight: 0 }], 'WEIGHT] owners[0].weight must be a number from 1e-9 to 2^53 - 1'],
  ])('rejects an owner with %s', (_, owners, message) => {
    expect(() => rebalancePlan(owners, uniformRanges(2, SPACE))).toThrow(message);
  });

  test('throws KeySpaceExhaustedError if a shard has no free key for an owner', () => {
    const owners = [0n, 1n, 2n].map((hashKey) => ({ owner: `owner-${hashKey}`, hashKey, weight: 1 }));
    const ranges = [
      { startingHashKey: 0n, endingHashKey: 2n },
      { startingHashKey: 3n, endingHashKey: 3n },
    ];
    const last = { owner: 'owner-3', hashKey: 3n, weight: 1 };
    expect(() => rebalancePlan([...owners, last], ranges)).toThrow(KeySpaceExhaustedError);
  });
});
