import { dynaliteForTests } from '../../../support/dynalite';
import {
  type ChaosFacts,
  chaosOfSeed,
  createChaosTables,
  expectFacts,
  playParkingChaos,
} from '../../../support/plays/parking-chaos';
import { randomRuns, randomRunsTimeout } from '../../../support/random-runs';

/** The parking table is on dynalite. */
describe('an ordered consumer whose processes are killed while its table is throttled', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createChaosTables(dynamoDb));

  test(
    'applies each record once and in order, and leaves no parked record in the table',
    async () => {
      const plays: ChaosFacts[] = [];
      for (let seed = 0; seed < randomRuns(4); seed++) plays.push(await play(chaosOfSeed(seed)));
      expectFacts(['kills', 'throttles', 'corruptResponses', 'parked', 'largeRecords'], plays);
    },
    randomRunsTimeout(60_000),
  );

  test(
    'applies each record once and in order, even if its process is killed at any write',
    async () => {
      let killAt = 1;
      while ((await play({ seed: killAt, keys: 1, records: 2, killAt })).kills > 0) killAt += 1;
      expect(killAt).toBeGreaterThan(10);
    },
    randomRunsTimeout(60_000),
  );

  async function play(options: Parameters<typeof playParkingChaos>[1]): Promise<ChaosFacts> {
    try {
      return await playParkingChaos(dynamoDb, options);
    } catch (error) {
      throw new Error(`${JSON.stringify(options)}: ${(error as Error).message}`, { cause: error });
    }
  }
});
