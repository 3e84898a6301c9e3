import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import { EVERYTHING, type ModelLimits } from '../support/fakes/fan-out-model';
import { playOnService } from '../support/plays/play-on-service';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/**
 * The abilities of dynalite. dynalite has no multi-attribute keys. It stores strings as UTF-8 but compares them as
 * UTF-16, so characters with code points above the surrogates have another order. With these sizes, a case takes fewer
 * than 100 requests.
 */
const DYNALITE: ModelLimits = {
  ...EVERYTHING,
  layouts: ['single-attribute'],
  sortKeyCounts: [0, 1],
  sortValues: 5,
  mostShards: 20,
  mostItems: 100,
};
const CASES = randomRuns(40);

test(
  `on dynalite, with the AWS SDK, ${CASES} random cases of the fan-out model return the same pages as the oracle`,
  async () => {
    const { endpoint, stop } = await startDynamoDbEmulator();
    try {
      await playOnService(endpoint, DYNALITE, CASES, 0);
    } finally {
      await stop();
    }
  },
  randomRunsTimeout(300_000),
);
