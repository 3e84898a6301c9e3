import { playOnDynalite } from '../support/plays/play-on-dynalite';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** `npm run soak fan-out-dynalite` runs any number of cases. */
const CASES = randomRuns(40);

test(
  `on dynalite, with the AWS SDK, ${CASES} random cases of the fan-out model return the same pages as the oracle`,
  async () => {
    await expect(playOnDynalite(CASES, 0)).resolves.toBeUndefined();
  },
  randomRunsTimeout(300_000),
);
