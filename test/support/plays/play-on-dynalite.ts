import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { EVERYTHING, type ModelLimits } from '../fakes/fan-out-model';
import { playOnService } from './play-on-service';

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

/**
 * Runs cases of the model on dynalite with the AWS SDK and with the light client.
 *
 * @throws an error with the seed of the first case that differs from the oracle
 */
export async function playOnDynalite(cases: number, firstSeed: number): Promise<void> {
  const emulator = await startDynamoDbEmulator();
  try {
    await playOnService(emulator.endpoint, DYNALITE, cases, firstSeed);
  } finally {
    await emulator.stop();
  }
}
