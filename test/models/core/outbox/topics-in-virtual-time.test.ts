import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { type Played, playTopics } from './topics/play-topics';

const PLAYS = randomRuns(100);

test(
  `even if rows are rejected and workers stop, the stream of each topic has each committed row once, in the order of its key: ${PLAYS} seeds`,
  async () => {
    const played: Played[] = [];
    for (let seed = 0; seed < PLAYS; seed++) played.push(await playTopics(seed));
    const sum = (count: (each: Played) => number): number => played.reduce((total, each) => total + count(each), 0);
    // The random cases must include parked rows, given up rows, duplicates and stopped workers.
    for (const count of ['parked', 'givenUp', 'repeats', 'fates'] as const) {
      expect(sum((each) => each[count])).toBeGreaterThan(PLAYS / 10);
    }
  },
  randomRunsTimeout(120_000),
);
