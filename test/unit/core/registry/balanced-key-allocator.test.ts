import fc from 'fast-check';
import {
  BalancedKeyAllocator,
  balancedKey,
  HASH_KEY_SPACE,
  type HashKeyRange,
  InvalidArgumentError,
  InvalidHashKeyRangesError,
  InvalidWeightError,
  KeySpaceExhaustedError,
  shardIndexOf,
  uniformRanges,
} from '../../../../lib/core';
import { mostOwners } from './most-owners';

const ARTICLE_SPACE = 128n;

function take(allocator: BalancedKeyAllocator, count: number): number[] {
  return Array.from({ length: count }, () => Number(allocator.allocate()));
}

/**
 * The function nextBalancedAvailableKey of "Kinesis Hash Key Space Partitioning", for a list of allocated keys. It uses
 * the other side of the tree if one side is full.
 */
function articleKey(
  keys: readonly [bigint, number][],
  low: bigint,
  high: bigint,
  lowTaken: boolean,
  up: boolean,
): bigint {
  const middle = up && high - low > 1n ? (low + high + 1n) / 2n : (low + high) / 2n;
  if (!keys.some(([key]) => key === middle)) return middle;
  const left = keys.filter(([key]) => low <= key && key < middle && !(lowTaken && key === low));
  const right = keys.filter(([key]) => middle < key && key < high);
  const leftFull = BigInt(left.length) === middle - low - (lowTaken ? 1n : 0n);
  const rightFull = BigInt(right.length) === high - middle - 1n;
  const goesLeft = rightFull || (!leftFull && weight(left) <= weight(right));
  return goesLeft ? articleKey(left, low, middle, lowTaken, up) : articleKey(right, middle, high, true, up);
}

function weight(keys: readonly [bigint, number][]): number {
  return keys.reduce((sum, [, each]) => sum + each, 0);
}

/** A simple model of the allocator. The allocator must allocate the same keys. */
class Model {
  readonly keys = new Map<string, number>();

  constructor(
    readonly ranges: readonly HashKeyRange[],
    private readonly sharded: boolean,
  ) {}

  keysOf({ startingHashKey, endingHashKey }: HashKeyRange): [bigint, number][] {
    return [...this.keys]
      .map(([key, each]): [bigint, number] => [BigInt(key), each])
      .filter(([key]) => startingHashKey <= key && key <= endingHashKey);
  }

  get open(): HashKeyRange[] {
    return this.ranges.filter(
      (range) => BigInt(this.keysOf(range).length) <= range.endingHashKey - range.startingHashKey,
    );
  }

  expectNext(key: bigint): void {
    const range = this.ranges[shardIndexOf(key, this.ranges)]!;
    const lightest = Math.min(...this.open.map((other) => weight(this.keysOf(other))));
    expect(weight(this.keysOf(range))).toBe(lightest);
    const { startingHashKey: low, endingHashKey } = range;
    expect(key).toBe(articleKey(this.keysOf(range), low, endingHashKey + 1n, false, this.sharded));
  }
}

/** Any contiguous ranges of a space. */
function shardMaps(space: bigint): fc.Arbitrary<HashKeyRange[]> {
  return fc.uniqueArray(fc.bigInt({ min: 0n, max: space - 2n }), { maxLength: 12 }).map((ends) => {
    const ascending = [...ends, space - 1n].sort((a, b) => (a < b ? -1 : 1));
    return ascending.map((endingHashKey, index) => ({
      startingHashKey: index === 0 ? 0n : ascending[index - 1]! + 1n,
      endingHashKey,
    }));
  });
}

function isWide({ startingHashKey, endingHashKey }: HashKeyRange): boolean {
  return endingHashKey - startingHashKey > 1000n;
}

const steps = fc.array(
  fc.oneof(
    fc.record({ allocate: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ release: fc.nat() }),
    fc.record({ rehydrate: fc.constant(true) }),
  ),
  { maxLength: 60 },
);

function follow(model: Model, plan: typeof steps extends fc.Arbitrary<infer T> ? T : never, ranges?: HashKeyRange[]) {
  const space = model.ranges.at(-1)!.endingHashKey + 1n;
  let allocator = new BalancedKeyAllocator({ space, ranges });
  for (const step of plan) {
    if ('allocate' in step) {
      if (model.open.length === 0) {
        expect(() => allocator.allocate(step.allocate)).toThrow(KeySpaceExhaustedError);
        continue;
      }
      const key = allocator.allocate(step.allocate);
      model.expectNext(key);
      model.keys.set(String(key), step.allocate);
    } else if ('release' in step) {
      const key = [...model.keys.keys()][step.release % Math.max(1, model.keys.size)];
      expect(allocator.release(BigInt(key ?? 0))).toBe(key !== undefined);
      if (key !== undefined) model.keys.delete(key);
      expect(allocator.has(BigInt(key ?? 0))).toBe(false);
    } else {
      const allocated = [...model.keys].map(([key, each]) => ({ hashKey: BigInt(key), weight: each }));
      allocator = new BalancedKeyAllocator({ space, ranges, allocated: allocated.reverse() });
    }
    expect(allocator.size).toBe(model.keys.size);
  }
}

describe('BalancedKeyAllocator without ranges', () => {
  test('allocates the keys of the tree in "Kinesis Hash Key Space Partitioning", in the order of the article', () => {
    expect(take(new BalancedKeyAllocator({ space: ARTICLE_SPACE }), 7)).toEqual([64, 32, 96, 16, 80, 48, 112]);
  });

  test('continues from the allocated keys 0, 32, 9 and 57 as in "Kinesis Hash Key Space Partitioning"', () => {
    const allocator = new BalancedKeyAllocator({ space: ARTICLE_SPACE, allocated: [0n, 32n, 9n, 57n] });
    expect(take(allocator, 8)).toEqual([64, 96, 80, 112, 72, 48, 104, 16]);
  });

  test('first fills the empty right side of the skewed tree in "Kinesis Hash Key Space Partitioning"', () => {
    const allocator = new BalancedKeyAllocator({ space: ARTICLE_SPACE, allocated: [64n, 32n, 16n, 8n, 4n] });
    expect(take(allocator, 4).every((key) => key > 64)).toBe(true);
    expect(take(allocator, 1)[0]).toBeLessThan(64);
  });

  test('allocates the keys that balancedKey returns, in the same order, also in the hash key space of Kinesis', () => {
    for (const space of [ARTICLE_SPACE, 100n, 77n, 1n, HASH_KEY_SPACE]) {
      const allocator = new BalancedKeyAllocator({ space });
      const count = space < 1000n ? Number(space) : 1000;
      expect(take(allocator, count)).toEqual(Array.from({ length: count }, (_, n) => Number(balancedKey(n, space))));
    }
  });

  test('allocates the same keys as the algorithm in "Kinesis Hash Key Space Partitioning" after any allocations, releases and restarts', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 40n }), steps, (space, plan) => {
        follow(new Model(uniformRanges(1, space), false), plan);
      }),
    );
  });
});

describe('BalancedKeyAllocator with ranges', () => {
  test('allocates the same keys as a simple model after any allocations, releases and restarts', () => {
    const shardMap = fc.bigInt({ min: 2n, max: 60n }).chain(shardMaps);
    fc.assert(
      fc.property(shardMap, steps, (ranges, plan) => {
        follow(new Model(ranges, true), plan, ranges);
      }),
    );
  });

  test('allocates at most ceil(m/k) of m owners to each of any k shards, and each shard has at most ceil(m/2k) owners after all shards are split', () => {
    fc.assert(
      fc.property(shardMaps(HASH_KEY_SPACE), fc.integer({ min: 1, max: 200 }), fc.boolean(), (ranges, owners, up) => {
        fc.pre(ranges.every(isWide));
        const allocator = new BalancedKeyAllocator({ ranges });
        const keys = Array.from({ length: owners }, () => allocator.allocate());
        const split = ranges.flatMap(({ startingHashKey, endingHashKey }) => {
          const upper = (startingHashKey + endingHashKey + (up ? 2n : 0n)) / 2n;
          return [
            { startingHashKey, endingHashKey: upper - 1n },
            { startingHashKey: upper, endingHashKey },
          ];
        });
        for (const shards of [ranges, split]) {
          const most = mostOwners(
            keys.map((key) => shardIndexOf(key, shards)),
            shards.length,
          );
          most.forEach((owners, index) => {
            if (shards === ranges || index === keys.length - 1) {
              expect(owners).toBeLessThanOrEqual(Math.ceil((index + 1) / shards.length));
            }
          });
        }
      }),
    );
  });

  test.each([4, 8, 64])(
    'keeps at most ceil(m/k) owners in each shard after %d shards are merged in pairs',
    (shards) => {
      const allocator = new BalancedKeyAllocator({ ranges: uniformRanges(shards) });
      const merged = uniformRanges(shards / 2);
      const owners = Array.from({ length: 300 }, () => shardIndexOf(allocator.allocate(), merged));
      expect(mostOwners(owners, shards / 2)).toEqual(owners.map((_, index) => Math.ceil((2 * (index + 1)) / shards)));
    },
  );

  test('after any releases, makes the shards even again if it allocates enough keys to new owners', () => {
    fc.assert(
      fc.property(shardMaps(HASH_KEY_SPACE), fc.array(fc.nat(), { maxLength: 50 }), (ranges, releases) => {
        fc.pre(ranges.every(isWide));
        const allocator = new BalancedKeyAllocator({ ranges });
        const keys = Array.from({ length: 60 }, () => allocator.allocate());
        for (const release of releases) {
          const [key] = keys.splice(release % Math.max(1, keys.length), 1);
          if (key !== undefined) allocator.release(key);
        }
        const most = Math.ceil(60 / ranges.length);
        while (keys.length < most * ranges.length) keys.push(allocator.allocate());
        const perShard = mostOwners(
          keys.map((key) => shardIndexOf(key, ranges)),
          ranges.length,
        );
        expect(perShard.at(-1)).toBe(most);
      }),
    );
  });

  test('skips a shard without a free key', () => {
    const ranges = [
      { startingHashKey: 0n, endingHashKey: 0n },
      { startingHashKey: 1n, endingHashKey: 127n },
    ];
    const keys = take(new BalancedKeyAllocator({ ranges }), 128);
    expect(keys.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 128 }, (_, key) => key));
  });
});

describe('BalancedKeyAllocator with weights', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 9 });
  const shardCounts = fc.integer({ min: 1, max: 5 });

  function heaviest(owners: readonly number[], shards: number): number {
    const ranges = uniformRanges(shards);
    const allocator = new BalancedKeyAllocator({ ranges });
    const loads = new Array<number>(shards).fill(0);
    for (const owner of owners) loads[shardIndexOf(allocator.allocate(owner), ranges)]! += owner;
    return Math.max(...loads);
  }

  /** The minimum load of the heaviest shard, from a search over all placements. */
  function leastPossible(owners: readonly number[], shards: number): number {
    const descending = owners.toSorted((a, b) => b - a);
    const place = (index: number, loads: number[], best: number): number => {
      if (Math.max(...loads) >= best) return best;
      if (index === descending.length) return Math.max(...loads);
      const distinct = loads.filter((load, shard) => loads.indexOf(load) === shard);
      return distinct.reduce((least, load) => {
        const next = loads.with(loads.indexOf(load), load + descending[index]!);
        return place(index + 1, next, least);
      }, best);
    };
    return place(0, new Array(shards).fill(0), heaviest(descending, shards) + 1);
  }

  test('counts an owner of weight 3 as three owners', () => {
    const ranges = uniformRanges(2, ARTICLE_SPACE);
    const allocator = new BalancedKeyAllocator({ ranges });
    const heavy = shardIndexOf(allocator.allocate(3), ranges);
    expect(Array.from({ length: 3 }, () => shardIndexOf(allocator.allocate(), ranges))).toEqual(
      new Array(3).fill(1 - heavy),
    );
  });

  test('removes the weight of an owner when its key is released', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), { maxLength: 30 }), (owners) => {
        const ranges = uniformRanges(2, ARTICLE_SPACE);
        const allocator = new BalancedKeyAllocator({ ranges });
        for (const key of owners.map((owner) => allocator.allocate(owner))) allocator.release(key);
        expect(take(allocator, 20)).toEqual(take(new BalancedKeyAllocator({ ranges }), 20));
      }),
    );
  });

  test('keeps the load of the heaviest shard within 2 − 1/k times the minimum, and within 4/3 times the minimum if the heaviest owners come first', () => {
    fc.assert(
      fc.property(weights, shardCounts, (owners, shards) => {
        const least = leastPossible(owners, shards);
        const heaviestFirst = owners.toSorted((a, b) => b - a);
        expect(heaviest(owners, shards)).toBeLessThanOrEqual((2 - 1 / shards) * least + 1e-9);
        expect(heaviest(heaviestFirst, shards)).toBeLessThanOrEqual((4 / 3 - 1 / (3 * shards)) * least + 1e-9);
      }),
    );
  });
});

describe('BalancedKeyAllocator', () => {
  test('claims a given key once, with the default weight of 1', () => {
    const allocator = new BalancedKeyAllocator({ ranges: uniformRanges(2) });
    allocator.claim(0n);
    expect(() => allocator.claim(0n, 9)).toThrow('hashKey must be a key that is not allocated, got 0');
    const shards = [1, 1, 1].map((weight) => shardIndexOf(allocator.allocate(weight), uniformRanges(2)));
    expect(shards).toEqual([1, 1, 0]);
  });

  test('rejects allocated keys that are not iterable', () => {
    const restore = () => new BalancedKeyAllocator({ allocated: 5 as never });
    expect(restore).toThrow('allocated must be an iterable of hash keys, got 5');
  });

  test.each([1e-9, 2 ** 53 - 1])('accepts the weight %p', (weight) => {
    expect(new BalancedKeyAllocator().allocate(weight)).toBe(2n ** 127n);
  });

  test.each([128n, 4n, 64n, 3])('does not contain the key %p, and does not release it', (key) => {
    const allocator = new BalancedKeyAllocator({ space: ARTICLE_SPACE, allocated: [3n, 5n, 100n] });
    expect(allocator.has(key as bigint)).toBe(false);
    expect(allocator.release(key as bigint)).toBe(false);
    expect(allocator.size).toBe(3);
  });

  const range = (startingHashKey: unknown, endingHashKey: unknown) =>
    ({ startingHashKey, endingHashKey }) as HashKeyRange;

  test.each<[string, HashKeyRange[]]>([
    ['no ranges', []],
    ['a gap', [range(0n, 62n), range(64n, 127n)]],
    ['an overlap', [range(0n, 64n), range(64n, 127n)]],
    ['a missing range at the start', [range(1n, 127n)]],
    ['a missing range at the end', [range(0n, 126n)]],
    ['a range that ends before it starts', [range(0n, 63n), range(64n, 62n), range(63n, 127n)]],
    ['an object instead of an array', range(0n, 127n) as unknown as HashKeyRange[]],
  ])('rejects ranges with %s', (_, ranges) => {
    expect(() => new BalancedKeyAllocator({ space: ARTICLE_SPACE, ranges })).toThrow(InvalidHashKeyRangesError);
  });

  test.each([0n, -1n, HASH_KEY_SPACE + 1n, 128])('rejects the space %p', (space) => {
    expect(() => new BalancedKeyAllocator({ space: space as bigint })).toThrow(InvalidArgumentError);
  });

  test.each([[-1n], [128n], [{ hashKey: 128n, weight: 1 }]])(
    'rejects the allocated key %p, which is outside every range',
    (key) => {
      const restore = () =>
        new BalancedKeyAllocator({ ranges: uniformRanges(2, ARTICLE_SPACE), allocated: [1n, key as bigint] });
      const message = 'allocated[1] must be a hash key of one of the ranges, from 0 to 127, got ';
      expect(restore).toThrow(`[INVALID_HASH_KEY] ${message}`);
    },
  );

  test('rejects an allocated key that is listed twice', () => {
    const restore = () => new BalancedKeyAllocator({ allocated: [1n, 2n, { hashKey: 1n, weight: 2 }] });
    expect(restore).toThrow('[INVALID_HASH_KEY] allocated[2] must be listed once, got 1');
  });

  test.each([0, Number.NaN, 2 ** 53, null])('rejects the weight %p', (weight) => {
    const allocator = new BalancedKeyAllocator();
    expect(() => allocator.allocate(weight as number)).toThrow(InvalidWeightError);
    expect(allocator.size).toBe(0);
    const allocated = [{ hashKey: 0n, weight: weight as number }];
    expect(() => new BalancedKeyAllocator({ allocated })).toThrow(
      'allocated[0].weight must be a number from 1e-9 to 2^53 - 1',
    );
  });
});
