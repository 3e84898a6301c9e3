import fc from 'fast-check';
import { overloadProbability, shardsForOverload } from '../../../../lib/core';
import { mostShardsForOverload } from '../../../../lib/core/planning/shards-for-overload';
import { randomRuns } from '../../../support/random-runs';

/**
 * The exact probability that any partition has more than `most` shards. Counts the placements in which no partition has
 * more than `most` shards.
 */
function exactProbability(shards: number, partitions: number, most: number): number {
  const binomial: bigint[][] = Array.from({ length: shards + 1 }, () => [1n]);
  for (let n = 1; n <= shards; n++) {
    for (let k = 1; k <= n; k++) binomial[n]![k] = binomial[n - 1]![k - 1]! + (binomial[n - 1]![k] ?? 0n);
  }
  let ways: bigint[] = Array.from({ length: shards + 1 }, (_, k) => (k <= most ? 1n : 0n));
  for (let partition = 2; partition <= partitions; partition++) {
    ways = ways.map((_, k) => {
      let sum = 0n;
      for (let here = 0; here <= Math.min(most, k); here++) sum += binomial[k]![here]! * ways[k - here]!;
      return sum;
    });
  }
  const all = BigInt(partitions) ** BigInt(shards);
  const scale = 10n ** 40n;
  return Number(((all - ways[shards]!) * scale) / all) / 1e40;
}

/** The most shards that a partition can have without an overload. */
function mostBelow(factor: number, shards: number, partitions: number): number {
  return Math.floor(((factor * shards) / partitions) * (1 + 1e-12));
}

function choose(n: number, k: number): number {
  return k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k;
}

describe('overloadProbability', () => {
  test.each([
    [2, 0.012],
    [4, 0.105],
    [10, 0.364],
    [20, 0.645],
  ])(
    '10 shards for each of %d partitions overload at least one partition with probability %d, which is above 5 %%',
    (n, expected) => {
      expect(overloadProbability({ shards: 10 * n, partitions: n })).toBeCloseTo(expected, 3);
    },
  );

  test('in one of 17 random placements, 14 keys on two shards are at least as uneven as 3 and 11 keys', () => {
    const uneven = [11, 12, 13, 14].reduce((ways, more) => ways + 2 * choose(14, more), 0);
    expect(overloadProbability({ shards: 14, partitions: 2 })).toBeCloseTo(uneven / 2 ** 14, 12);
    expect(Math.round(2 ** 14 / uneven)).toBe(17);
  });

  test('more keys on two shards make it less likely that a shard exceeds its share by 20 %', () => {
    const uneven = [14, 24, 49, 99].map((shards) => overloadProbability({ shards, partitions: 2, overload: 0.2 }));
    for (const [index, probability] of uneven.slice(1).entries()) expect(probability).toBeLessThan(uneven[index]!);
  });

  test.each([
    [2, '75 %', 3, 4],
    [3, '50 %', 3, 6],
    [4, '37.5 %', 3, 8],
  ])(
    'one of %d partitions is overloaded if it has more than %s of the shards: more than %d of %d shards',
    (partitions, _, most, shards) => {
      expect(overloadProbability({ shards, partitions })).toBeCloseTo(exactProbability(shards, partitions, most), 12);
      expect(overloadProbability({ shards, partitions })).not.toBeCloseTo(
        exactProbability(shards, partitions, most - 1),
        2,
      );
    },
  );

  test('a utilization of 67 % allows an overload of exactly 50 %, and a utilization of 70 % allows less', () => {
    const [at70, at67, half] = [{ utilization: 0.7 }, { utilization: 2 / 3 }, { overload: 0.5 }].map((bound) =>
      overloadProbability({ shards: 30, partitions: 3, ...bound }),
    );
    expect(at67).toBe(half);
    expect(at70).toBeGreaterThan(half!);
  });

  test('is the same as the probability from a count of all placements, for few shards and every bound', () => {
    for (const partitions of [2, 3, 4, 5, 7]) {
      for (let shards = 1; shards <= 12; shards++) {
        for (const overload of [0.01, 0.2, 0.5, 1, 2]) {
          const expected = exactProbability(shards, partitions, mostBelow(1 + overload, shards, partitions));
          expect(overloadProbability({ shards, partitions, overload })).toBeCloseTo(expected, 12);
        }
      }
    }
  });

  test.each([
    [50, 7, 1],
    [300, 31, 1],
    [60, 2, 0.9],
  ])(
    'has a relative error below 1e-11 for %d shards on %d partitions with an allowed overload of %d',
    (shards, partitions, overload) => {
      const expected = exactProbability(shards, partitions, mostBelow(1 + overload, shards, partitions));
      const found = overloadProbability({ shards, partitions, overload });
      expect(Math.abs(found / expected - 1)).toBeLessThan(1e-11);
    },
  );

  test('is not monotonic: on 2 partitions, it is below 5 % for 12 and 15 shards, but not for 13 and 14 shards', () => {
    const below = [12, 13, 14, 15].map((shards) => overloadProbability({ shards, partitions: 2 }) < 0.05);
    expect(below).toEqual([true, false, false, true]);
  });

  test('does not count a partition as overloaded if the partition is exactly at its bound, even if a double rounds the bound', () => {
    expect(overloadProbability({ shards: 15, partitions: 3, overload: 0.4 })).toBeCloseTo(
      exactProbability(15, 3, 7),
      12,
    );
    expect(overloadProbability({ shards: 100, partitions: 1, overload: 0.15 })).toBe(0);
    expect(overloadProbability({ shards: 99, partitions: 2, utilization: 0.99 })).toBe(
      overloadProbability({ shards: 99, partitions: 2, overload: 1 / 99 }),
    );
  });

  test.each([
    [{ shards: 0, partitions: 1 }, 'shards must be a whole number from 1 to 100000, got 0'],
    [{ shards: 1, partitions: 1.5 }, 'partitions must be a whole number from 1 to 10000, got 1.5'],
    [{ shards: 1, partitions: 1, overload: 0 }, 'overload must be a number from 0.01 to 1000, got 0'],
    ...[0, 0.991, 1, '0.5' as never].map((utilization): [object, string] => [
      { shards: 1, partitions: 1, utilization },
      'utilization must be a number above 0 and at most 0.99, got',
    ]),
    [
      { shards: 1, partitions: 1, overload: 0.5, utilization: 0.5 },
      'overload must be absent if utilization is set, because utilization determines the overload, got 0.5',
    ],
  ])('rejects %j', (query, message) => {
    expect(() => overloadProbability(query as never)).toThrow(`[INVALID_ARGUMENT] ${message}`);
  });
});

describe('shardsForOverload', () => {
  test.each([
    [2, 15],
    [4, 70],
    [10, 274],
    [20, 694],
  ])(
    'for %d partitions, the probability is below 5 %% for %d shards and for every larger number of shards',
    (partitions, shards) => {
      expect(shardsForOverload({ partitions, probability: 0.05 })).toBe(shards);
    },
  );

  test('does not count a probability of exactly 50 % as below 50 %', () => {
    expect(shardsForOverload({ partitions: 2, probability: 0.5 })).toBe(3);
  });

  test('returns the smallest number of shards such that, for it and every larger number, the overload probability is below the given probability', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 6 }),
        fc.double({ min: 0.01, max: 0.9, noNaN: true }),
        fc.double({ min: 0.4, max: 2, noNaN: true }),
        (partitions, probability, overload) => {
          const enough = shardsForOverload({ partitions, probability, overload });
          const at = (shards: number) => overloadProbability({ shards, partitions, overload });
          const after = Array.from({ length: 60 }, (_, more) => at(enough + more));
          expect(Math.max(...after)).toBeLessThan(probability);
          if (enough > 1) expect(at(enough - 1)).toBeGreaterThanOrEqual(probability);
        },
      ),
      { numRuns: randomRuns(20) },
    );
  });

  test('accepts the maximum number of partitions', () => {
    expect(shardsForOverload({ partitions: 10_000, probability: 0.05, overload: 4 })).toBe(24_000);
  });

  test.each([
    [{ partitions: 0, probability: 0.05 }, 'partitions must be a whole number from 1 to 10000, got 0'],
    [{ partitions: 2, probability: 0 }, 'probability must be a number from 1e-9 to 0.999, got 0'],
    [
      { partitions: 100, probability: 0.05, overload: 0.01 },
      'probability must be higher (more than 100000 shards would be needed), got 0.05',
    ],
  ])('rejects %j', (query, message) => {
    expect(() => shardsForOverload(query)).toThrow(`[INVALID_ARGUMENT] ${message}`);
  });
});

describe('mostShardsForOverload', () => {
  test('at 30 % utilization, 33 partitions need 90 shards, and 34 partitions need fewer shards', () => {
    const query = { probability: 0.05, utilization: 0.3 };
    expect([33, 34].map((partitions) => shardsForOverload({ ...query, partitions }))).toEqual([90, 82]);
    const most = [30, 33, 34].map((fewest) => mostShardsForOverload({ ...query, fewest, partitions: 34 }, 1));
    expect(most).toEqual([90, 90, 82]);
  });

  test('is the maximum of shardsForOverload over a range of partition counts, and at least the given minimum', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 10 }),
        fc.double({ min: 0.001, max: 0.9, noNaN: true }),
        fc.double({ min: 0.05, max: 0.75, noNaN: true }),
        fc.integer({ min: 1, max: 400 }),
        (fewest, more, probability, utilization, atLeast) => {
          const counts = Array.from({ length: more + 1 }, (_, index) => fewest + index);
          const each = counts.map((partitions) => shardsForOverload({ partitions, probability, utilization }));
          const most = mostShardsForOverload({ fewest, partitions: fewest + more, probability, utilization }, atLeast);
          expect(most).toBe(Math.max(atLeast, ...each));
        },
      ),
      { numRuns: randomRuns(40) },
    );
  });
});
