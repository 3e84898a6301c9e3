import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import {
  type ChaosFacts,
  chaosOfSeed,
  createChaosTables,
  expectFacts,
  playParkingChaos,
} from '../support/plays/parking-chaos';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { startDynamoDbLocal } from './dynamodb-local';

describe('an ordered consumer whose processes are killed while its table is throttled, on DynamoDB Local', () => {
  let dynamodb: DynamoDB;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const { endpoint, ...running } = await startDynamoDbLocal();
    stop = () => running.stop();
    dynamodb = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }).dynamodb;
    await createChaosTables(dynamodb);
  }, 300_000);
  afterAll(async () => {
    dynamodb?.destroy();
    await stop?.();
  });

  test(
    'applies each record once and in order, and leaves nothing in the table but marks, moves and entries of once',
    async () => {
      const plays: ChaosFacts[] = [];
      for (let seed = 0; seed < randomRuns(24); seed++) plays.push(await playParkingChaos(dynamodb, chaosOfSeed(seed)));
      for (let killAt = 1; killAt < 40; killAt++) {
        plays.push(await playParkingChaos(dynamodb, { seed: 1, keys: 2, records: 4, killAt }));
      }
      expectFacts(Object.keys(plays[0]!) as (keyof ChaosFacts)[], plays);
      console.log(JSON.stringify(sumOf(plays)));
    },
    randomRunsTimeout(900_000),
  );
});

function sumOf(plays: readonly ChaosFacts[]): Record<string, number> {
  const sum: Record<string, number> = { plays: plays.length };
  for (const facts of plays) for (const [fact, count] of Object.entries(facts)) sum[fact] = (sum[fact] ?? 0) + count;
  return sum;
}
