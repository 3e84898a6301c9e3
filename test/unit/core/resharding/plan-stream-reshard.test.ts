import fc from 'fast-check';
import { type HashKeyRange, uniformRanges } from '../../../../lib/core';
import { boundaryMoves } from '../../../../lib/core/resharding/boundary-moves';
import { describeOperation, planStreamReshard } from '../../../../lib/core/resharding/plan-stream-reshard';
import { shardCountSteps } from '../../../../lib/core/resharding/shard-count-steps';
import { skewOf } from '../../../../lib/core/resharding/skew';
import { MAX_SKEW } from '../../../../lib/core/resharding/thresholds';
import { randomRuns } from '../../../support/random-runs';
import { afterOperation, anyRanges, rangesBetween } from './hash-key-ranges';

fc.configureGlobal({ numRuns: randomRuns(100) });

const anyCount = fc.integer({ min: 1, max: 48 });
const quarter = 2n ** 126n;

function mapsAfter(ranges: HashKeyRange[], plan: ReturnType<typeof planStreamReshard>): HashKeyRange[][] {
  const maps = [ranges];
  for (const operation of plan) maps.push(afterOperation(maps.at(-1)!, operation));
  return maps;
}

describe('skewOf', () => {
  test('is 1 if all shards have the same width, and is otherwise the factor by which the capacity of the stream decreases', () => {
    expect(skewOf(uniformRanges(1))).toBe(1);
    expect(skewOf(uniformRanges(64))).toBe(1);
    expect(skewOf(rangesBetween([quarter]))).toBe(1.5);
    expect(skewOf(rangesBetween([quarter, 2n * quarter]))).toBe(1.5);
  });
});

describe('boundaryMoves', () => {
  test('make the shards of any stream even, and contain only valid operations, whether splits or merges come first', () => {
    const first = fc.constantFrom('split', 'merge', undefined);
    fc.assert(
      fc.property(anyRanges, anyCount, first, (ranges, count, first) => {
        const end = mapsAfter(ranges, boundaryMoves(ranges, count, first)).at(-1)!;
        expect(end).toHaveLength(count);
        expect(skewOf(end)).toBeLessThanOrEqual(MAX_SKEW);
      }),
    );
  });

  test('never result in fewer shards than the smaller of the two counts, or in more than one shard above the larger count', () => {
    fc.assert(
      fc.property(anyRanges, anyCount, (ranges, count) => {
        const counts = mapsAfter(ranges, boundaryMoves(ranges, count)).map(({ length }) => length);
        expect(Math.min(...counts)).toBe(Math.min(ranges.length, count));
        expect(Math.max(...counts)).toBeLessThanOrEqual(Math.max(ranges.length, count) + 1);
      }),
    );
  });

  test.each([
    [2n, 0],
    [-2n, 0],
    [3n, 2],
    [-3n, 2],
  ])(
    'do not move a boundary if its distance from its ideal place is at most 2.5 %% of the ideal width: distance %d %%, %d moves',
    (misplaced, moves) => {
      const half = 2n ** 127n;
      expect(boundaryMoves(rangesBetween([half + (misplaced * half) / 100n]), 2)).toHaveLength(moves);
    },
  );

  test.each([
    { near: -1n, far: -2n },
    { near: -1n, far: 2n },
    { near: 1n, far: -2n },
    { near: 1n, far: 2n },
  ])(
    'keep the boundary that is nearest to an ideal place: the boundary at $near, not the boundary at $far',
    ({ near, far }) => {
      const half = 2n ** 127n;
      const ranges = rangesBetween([half + near, half + far].sort((a, b) => (a < b ? -1 : 1)));
      expect(mapsAfter(ranges, boundaryMoves(ranges, 2)).at(-1)).toEqual(rangesBetween([half + near]));
    },
  );
});

describe('planStreamReshard', () => {
  test('is empty if and only if the stream has the requested shard count and is even', () => {
    fc.assert(
      fc.property(anyRanges, anyCount, (ranges, count) => {
        const isThere = ranges.length === count && skewOf(ranges) <= MAX_SKEW;
        expect(planStreamReshard(ranges, count).length === 0).toBe(isThere);
      }),
    );
    // The boundary is not at its ideal place, but the shards are even enough.
    expect(planStreamReshard(rangesBetween([2n ** 127n + 2n ** 122n]), 2)).toEqual([]);
  });

  test('is shorter after each operation, until the stream is even', () => {
    fc.assert(
      fc.property(anyRanges, anyCount, fc.integer({ min: 0, max: 10 }), (start, count, updatesLeft) => {
        let ranges = start;
        let plan = planStreamReshard(ranges, count, { updatesLeft });
        for (let left = updatesLeft; plan.length > 0; ) {
          const [next] = plan;
          if (next!.type === 'update') left -= 1;
          expect(left).toBeGreaterThanOrEqual(0);
          ranges = afterOperation(ranges, next!);
          const rest = planStreamReshard(ranges, count, { updatesLeft: left });
          expect(rest.length).toBeLessThan(plan.length);
          plan = rest;
        }
        expect(ranges).toHaveLength(count);
        expect(skewOf(ranges)).toBeLessThanOrEqual(MAX_SKEW);
      }),
    );
  });

  test('uses splits and merges, unless updates need fewer requests', () => {
    fc.assert(
      fc.property(anyRanges, anyCount, (ranges, count) => {
        fc.pre(ranges.length !== count);
        const [updates, moves] = [shardCountSteps(ranges.length, count), boundaryMoves(ranges, count)];
        const plan = planStreamReshard(ranges, count);
        expect(plan).toHaveLength(Math.min(updates.length, moves.length));
        expect(plan.some(({ type }) => type === 'update')).toBe(updates.length < moves.length);
      }),
    );
  });

  test('changes 4 even shards to 32 with three updates, or with 28 splits if no updates are left', () => {
    const updates = planStreamReshard(uniformRanges(4), 32);
    expect(updates.map(describeOperation)).toEqual([
      'update the shard count to 8',
      'update the shard count to 16',
      'update the shard count to 32',
    ]);
    const splits = planStreamReshard(uniformRanges(4), 32, { updatesLeft: 2 });
    expect(splits.map(({ type }) => type)).toEqual(Array(28).fill('split'));
  });

  test('moves one boundary with a split and a merge, and describes both operations', () => {
    const drifted = rangesBetween([quarter / 2n, 2n * quarter, 3n * quarter]);
    expect(planStreamReshard(drifted, 4).map(describeOperation)).toEqual([
      'split 20000000000000000000000000000000-7fffffffffffffffffffffffffffffff at 40000000000000000000000000000000',
      'merge 00000000000000000000000000000000-1fffffffffffffffffffffffffffffff with ' +
        '20000000000000000000000000000000-3fffffffffffffffffffffffffffffff',
    ]);
  });

  test.each([
    [8, 10],
    [9, 12],
    [8_000, 10_000],
    [10_000, 9_999],
  ])(
    'makes %d uneven shards even by way of an intermediate count of %d, unless the last update to the target count left the shards uneven',
    (count, detour) => {
      const misplaced = rangesBetween(Array.from({ length: count - 1 }, (_, index) => BigInt(index + 1) * 4n));
      expect(
        planStreamReshard(misplaced, count).map((operation) => 'shardCount' in operation && operation.shardCount),
      ).toEqual([detour, count]);
      if (count < 100) {
        const moves = planStreamReshard(misplaced, count, { lastUpdateTo: count });
        expect(moves).toHaveLength(2 * (count - 1));
        expect(skewOf(mapsAfter(misplaced, moves).at(-1)!)).toBe(1);
      }
    },
  );

  test.each([
    [38, 'update'],
    [39, 'split'],
    [40, 'split'],
    [41, 'merge'],
    [42, 'update'],
  ])('after an update to 40 that ended with %d uneven shards, the next operation is of the type %s', (count, next) => {
    const misplaced = rangesBetween(Array.from({ length: count - 1 }, (_, index) => BigInt(index + 1) * 4n));
    expect(planStreamReshard(misplaced, 40, { lastUpdateTo: 40 })[0]).toMatchObject({ type: next });
  });

  test.each([
    [100, 101],
    [101, 100],
  ])('updates %d even shards to %d again if the last update to this count had no effect', (count, next) => {
    const plan = planStreamReshard(uniformRanges(count), next, { lastUpdateTo: next });
    expect(plan).toEqual([{ type: 'update', shardCount: next }]);
  });
});
