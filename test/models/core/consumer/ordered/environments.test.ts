import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';
import { type PlayFacts, play } from './environments/play';

const PLAYS = randomRuns(1_000);

test(
  `a consumer in several environments keeps every promise in ${PLAYS} random plays`,
  async () => {
    for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
    const all: PlayFacts[] = [];
    try {
      for (let seed = 0; seed < PLAYS; seed++) {
        try {
          all.push(await play(seed));
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    } finally {
      jest.restoreAllMocks();
    }
    for (const fact of ['crashes', 'parked', 'lateRequests', 'overlaps', 'overlapsOfAborted'] as const) {
      expect([fact, all.reduce((sum, facts) => sum + facts[fact], 0)]).not.toEqual([fact, 0]);
    }
  },
  randomRunsTimeout(300_000),
);
