import { EVERYTHING } from '../support/fakes/fan-out-model';
import { playOnService } from '../support/plays/play-on-service';
import { DYNAMODB_EMULATORS } from './dynamodb-emulators';

/**
 * The number of random cases. The suite needs version 3 or later of the crate dynoxide-rs, because older versions have
 * no multi-attribute keys.
 */
const CASES = Number(process.env.MODEL_CASES ?? 500);
const FIRST_SEED = Number(process.env.MODEL_SEED ?? 0);
const dynoxide = DYNAMODB_EMULATORS.find(({ name }) => name === 'dynoxide')!;
const testIfInstalled = dynoxide.isInstalled ? test : test.skip;

testIfInstalled(
  `on dynoxide, ${CASES} random cases of the fan-out model return the same pages as the oracle`,
  async () => {
    const service = await dynoxide.start();
    try {
      const limits = { ...EVERYTHING, mostShards: 20, mostItems: 60 };
      await playOnService(service.endpoint, limits, CASES, FIRST_SEED);
    } finally {
      await service.stop();
    }
  },
  3_600_000,
);
