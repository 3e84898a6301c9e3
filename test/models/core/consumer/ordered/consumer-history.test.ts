import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { type ConsumerFacts, checkConsumerHistory } from './consumer-history';

beforeEach(() => {
  for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
});

test(
  'random histories of failures, crashes, lost answers, copies, moves, splits and racing retries apply each record once, in order',
  async () => {
    const all: ConsumerFacts[] = [];
    for (let seed = 0; seed < randomRuns(300); seed++) {
      try {
        all.push(await checkConsumerHistory(seed));
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    for (const fact of Object.keys(all[0]!) as (keyof ConsumerFacts)[]) {
      expect({ fact, isInSome: all.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
    }
  },
  randomRunsTimeout(120_000),
);
