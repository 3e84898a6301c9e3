import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { localClients } from '../../bin/local/emulators/clients';
import { playConsumerOfSources } from '../support/plays/consumer-of-sources';
import { createConsumerTables } from '../support/plays/consumer-tables';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

describeOnDynamoDbEmulators('an ordered consumer with transactions', (emulator) => {
  let dynamodb: DynamoDB;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const { endpoint, ...running } = await emulator.start();
    stop = () => running.stop();
    dynamodb = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint }).dynamodb;
    await createConsumerTables(dynamodb);
  }, 300_000);
  afterAll(async () => {
    dynamodb?.destroy();
    await stop?.();
  });

  test(
    'applies each record of several sources once, and the records of a key in the order of their source',
    async () => {
      for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
      for (let seed = 0; seed < randomRuns(40); seed++) {
        try {
          await playConsumerOfSources({ dynamodb, seed });
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    },
    randomRunsTimeout(900_000),
  );
});
