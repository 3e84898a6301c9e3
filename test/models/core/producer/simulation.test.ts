import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';
import { checkTrace } from './simulation/check-trace';
import { runSchedule } from './simulation/run-schedule';
import { scheduleOf } from './simulation/schedule';

const SCHEDULES = randomRuns(2_500);

describe('OrderedProducer in simulated time', () => {
  // npm run soak producer <count> runs more schedules, and npm run soak producer 1 <seed> runs one schedule.
  test(
    `keeps every promise in ${SCHEDULES} random schedules`,
    async () => {
      for (let seed = 0; seed < SCHEDULES; seed++) {
        const schedule = scheduleOf(seed);
        try {
          checkTrace(schedule, await runSchedule(schedule));
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    },
    randomRunsTimeout(300_000),
  );
});
