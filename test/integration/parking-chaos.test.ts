import { dynaliteForTests } from '../support/dynalite';
import { type ChaosFacts, createChaosTables, expectAllFacts, playParkingChaos } from '../support/plays/parking-chaos';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';

/** On dynalite. `npm run conformance dynamodb` plays it on DynamoDB Local. */
describe('an ordered consumer whose processes are killed while its table is throttled', () => {
  const { dynamoDb } = dynaliteForTests();
  beforeAll(() => createChaosTables(dynamoDb));

  test(
    'applies each record once and in order, and leaves nothing in the table but marks, moves and entries of once',
    async () => {
      const plays: ChaosFacts[] = [];
      for (let seed = 0; seed < randomRuns(12); seed++) {
        const size = seed % 4 === 3 ? { keys: 60, records: 150 } : { keys: 1 + (seed % 7), records: 40 };
        plays.push(await play({ seed, ...size, hasLargeRecords: seed % 4 === 1 }));
      }
      expectAllFacts(plays);
    },
    randomRunsTimeout(60_000),
  );

  test(
    'does so when its process is killed at any one of its writes',
    async () => {
      for (let killAt = 1; ; killAt++) {
        const { kills } = await play({ seed: 1, keys: 2, records: 4, killAt, hasLargeRecords: killAt % 2 === 0 });
        if (kills === 0) break;
      }
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
