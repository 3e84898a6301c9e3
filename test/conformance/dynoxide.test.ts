import { EVERYTHING } from '../fakes/fan-out-model';
import { DYNOXIDE, startDynoxide } from './dynoxide';
import { playOnService } from './play-on-service';

/** Set DYNOXIDE to the program, version 3 or newer: `cargo install dynoxide-rs` makes it. */
const CASES = Number(process.env.MODEL_CASES ?? 500);
const FIRST_SEED = Number(process.env.MODEL_SEED ?? 0);
const testIfInstalled = process.env[DYNOXIDE] === undefined ? test.skip : test;

testIfInstalled(
  `${CASES} of the model's random cases equal the oracle on dynoxide`,
  async () => {
    const service = await startDynoxide();
    try {
      const limits = { ...EVERYTHING, mostShards: 20, mostItems: 60 };
      await playOnService(service.endpoint, limits, CASES, FIRST_SEED);
    } finally {
      await service.stop();
    }
  },
  3_600_000,
);
