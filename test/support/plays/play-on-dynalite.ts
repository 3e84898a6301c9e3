import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { EVERYTHING, type ModelLimits } from '../fakes/fan-out-model';
import { playOnService } from './play-on-service';

/**
 * What dynalite can do: no multi-attribute keys, and strings ordered as DynamoDB does only below the surrogates, since it
 * stores them by UTF-8 and compares them by UTF-16. The sizes keep a case at some tens of requests.
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
 * Plays cases of the model on dynalite with the AWS SDK and with the light client.
 *
 * @throws an error that names the seed of the first case that does not equal the oracle
 */
export async function playOnDynalite(
  cases: number,
  firstSeed: number,
  play?: Parameters<typeof playOnService>[4],
): Promise<void> {
  const emulator = await startDynamoDbEmulator();
  try {
    await playOnService(emulator.endpoint, DYNALITE, cases, firstSeed, play);
  } finally {
    await emulator.stop();
  }
}
