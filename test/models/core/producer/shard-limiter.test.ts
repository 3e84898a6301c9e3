import fc from 'fast-check';
import { randomRuns } from '../../../support/random-runs';
import { throughputOf } from './throttled-shard';

describe('ShardLimiter, in simulated time', () => {
  const seed = fc.integer({ min: 1, max: 1_000_000 });
  const reshardAtMs = fc.option(fc.integer({ min: 20_000, max: 40_000 }), { nil: undefined });
  const numRuns = randomRuns(25);

  test('sends at the full rate if a shard throttles up to 2 % of the records at random', () => {
    fc.assert(
      fc.property(
        seed,
        fc.integer({ min: 1, max: 5 }),
        fc.double({ min: 0, max: 0.02, noNaN: true }),
        fc.constantFrom(0.5, 1),
        reshardAtMs,
        (seed, producers, byChance, capacity, reshardAtMs) => {
          const { stored } = throughputOf({ producers, byChance, capacity, seed, reshardAtMs });
          expect(stored).toBeGreaterThan(0.8 * (1 - byChance));
        },
      ),
      { numRuns },
    );
  });

  test('causes throttles of less than 6 % of the records if one or two producers overload a shard', () => {
    fc.assert(
      fc.property(
        seed,
        fc.constantFrom(1, 2),
        fc.constantFrom(0.2, 0.5, 0.8),
        reshardAtMs,
        (seed, producers, capacity, reshardAtMs) => {
          const { stored, throttled } = throughputOf({ producers, byChance: 0, capacity, seed, reshardAtMs });
          expect(stored).toBeGreaterThan(0.95);
          expect(throttled).toBeLessThan(0.06);
        },
      ),
      { numRuns },
    );
  });

  test('causes throttles of less than 13 % of the records if many producers overload a shard, and lets every producer send records', () => {
    fc.assert(
      fc.property(
        seed,
        fc.integer({ min: 3, max: 20 }),
        fc.constantFrom(0.5, 1),
        reshardAtMs,
        (seed, producers, capacity, reshardAtMs) => {
          const run = throughputOf({ producers, byChance: 0, capacity, seed, reshardAtMs });
          expect(run.stored).toBeGreaterThan(0.95);
          expect(run.throttled).toBeLessThan(0.13);
          expect(run.mostOverLeast).toBeLessThan(12);
        },
      ),
      { numRuns },
    );
  });

  test('sends fewer records to a shard whose throttles are more frequent than random throttles', () => {
    const { throttled } = throughputOf({ producers: 1, byChance: 0, capacity: 0.01, seed: 1 });
    expect(throttled).toBeLessThan(0.5);
  });
});
