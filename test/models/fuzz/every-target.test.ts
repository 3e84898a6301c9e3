import { hasPostgres } from '../../support/postgres/postgres-server';
import { randomRuns, randomRunsTimeout } from '../../support/random-runs';
import { Fuzz, type FuzzFailure } from './fuzz';

/** `npm run soak fuzz` runs for an hour. */
test(
  'with hostile input and misbehaving services, each case ends with a correct result or a typed error, and no log contains the data of the case',
  async () => {
    const failures: FuzzFailure[] = [];
    const fuzz = await Fuzz.start({ onFailure: (failure) => failures.push(failure) });
    try {
      await fuzz.play(Array.from({ length: randomRuns(8) }, (_, seed) => seed));
    } finally {
      await fuzz.stop();
    }
    expect(failures).toEqual([]);
    expect(Object.keys(fuzz.cases)).toHaveLength(hasPostgres ? 19 : 17);
  },
  randomRunsTimeout(300_000),
);
