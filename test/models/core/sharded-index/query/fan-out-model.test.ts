import { EVERYTHING, fakeModelIndex, playFanOutCase } from '../../../../support/fakes/fan-out-model';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** The seeds of rare cases: items moved, and a page ended after all shards, or between items of one shard with equal sort keys. */
const ENDS_AMONG_TIES = [1_995, 2_053, 2_191, 2_793, 3_021, 4_132, 4_303, 4_787, 4_877, 5_953];

const CASES = randomRuns(1_000);

describe(`fanOutQuery in ${CASES} random cases with deadlines and faults, while items are added and move, and shard counts change`, () => {
  test(
    'returns the same pages as an oracle, without duplicate or missing items',
    async () => {
      const failures: string[] = [];
      for (const seed of [...ENDS_AMONG_TIES, ...Array(CASES).keys()]) {
        await playFanOutCase(seed, EVERYTHING, (config, _, random) => fakeModelIndex(config, random)).catch(
          (error: Error) => failures.push(`seed ${seed}: ${error.message}`),
        );
      }
      expect(failures).toEqual([]);
    },
    randomRunsTimeout(240_000),
  );
});
