import { EVERYTHING, fakeModelIndex, playFanOutCase } from '../../../../support/fakes/fan-out-model';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

const CASES = randomRuns(1_000);

describe(`${CASES} random cases of a query paged to its end, with deadlines and faults, while items move and shard counts change`, () => {
  test(
    'equal an oracle page by page, nothing twice, nothing missing',
    async () => {
      const failures: string[] = [];
      for (let seed = 0; seed < CASES; seed++) {
        await playFanOutCase(seed, EVERYTHING, (config, _, random) => fakeModelIndex(config, random)).catch(
          (error: Error) => failures.push(`seed ${seed}: ${error.message}`),
        );
      }
      expect(failures).toEqual([]);
    },
    randomRunsTimeout(240_000),
  );
});
