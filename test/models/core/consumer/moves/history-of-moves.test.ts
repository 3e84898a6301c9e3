import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { checkHistory, type HistoryFacts } from './check-history';

/** `npm run soak moves` runs 10,000 histories. */
test(
  'in random histories of moves, crashes, restarts and replays, a consumer loses no record, and keeps the order of each key',
  async () => {
    const facts: HistoryFacts[] = [];
    for (let seed = 0; seed < randomRuns(140); seed++) {
      try {
        facts.push(await checkHistory(seed));
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    for (const fact of ['records', 'crashes', 'letGo', 'parked', 'rejectedAndStored'] as const) {
      expect({ fact, isInSome: facts.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
    }
  },
  randomRunsTimeout(120_000),
);
