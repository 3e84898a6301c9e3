import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { type Played, playTopics } from './topics/play-topics';

const PLAYS = randomRuns(100);

test(
  `the streams of all topics have each committed row once, in order by key, whatever is refused and whoever stops: ${PLAYS} seeds`,
  async () => {
    const played: Played[] = [];
    for (let seed = 0; seed < PLAYS; seed++) played.push(await playTopics(seed));
    const sum = (count: (each: Played) => number): number => played.reduce((total, each) => total + count(each), 0);
    // Plays in which nothing is parked, given up, repeated or stopped would show nothing of these.
    for (const count of ['parked', 'givenUp', 'repeats', 'fates'] as const) {
      expect(sum((each) => each[count])).toBeGreaterThan(PLAYS / 10);
    }
  },
  randomRunsTimeout(120_000),
);
