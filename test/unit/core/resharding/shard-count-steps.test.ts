import { shardCountSteps } from '../../../../lib/core/resharding/shard-count-steps';

/** The fewest updates from one count to every other count, from a breadth-first search over the valid updates. */
function fewestUpdatesFrom(start: number, mostShards: number): number[] {
  const fewest = Array<number>(mostShards + 1).fill(Number.POSITIVE_INFINITY);
  fewest[start] = 0;
  for (let counts = [start], updates = 1; counts.length > 0; updates += 1) {
    const next: number[] = [];
    for (const current of counts) {
      for (let target = 1; target <= mostShards; target += 1) {
        const allowed = target <= 2 * current && 2 * target >= current;
        if (!allowed || fewest[target]! < Number.POSITIVE_INFINITY) continue;
        fewest[target] = updates;
        next.push(target);
      }
    }
    counts = next;
  }
  return fewest;
}

describe('shardCountSteps', () => {
  test('are as few steps as a breadth-first search finds, between any two counts up to 64', () => {
    for (let current = 1; current <= 64; current += 1) {
      const fewest = fewestUpdatesFrom(current, 64);
      const steps = fewest.map((_, target) => (target === 0 ? 0 : shardCountSteps(current, target).length));
      expect(steps.slice(1)).toEqual(fewest.slice(1));
    }
  });

  test.each([
    [4, 32, [8, 16, 32]],
    [4, 20, [8, 16, 20]],
    [32, 5, [16, 8, 5]],
    [7, 1, [4, 2, 1]],
    [7_000, 10_000, [10_000]],
    [5, 5, []],
  ])('from %d to %d are %j', (current, target, steps) => {
    expect(shardCountSteps(current, target)).toEqual(steps);
  });

  test.each([
    [0, 4, 'current must be a whole number from 1 to 10000, got 0'],
    [4, 10_001, 'target must be a whole number from 1 to 10000 (the most shards of a Kinesis stream), got 10001'],
    [4, 2.5, 'target must be a whole number from 1 to 10000, got 2.5'],
  ])('from %d to %d are rejected', (current, target, message) => {
    expect(() => shardCountSteps(current, target)).toThrow(`[INVALID_SHARD_COUNT] ${message}`);
  });
});
