import { createConsumerTables, playConsumerOfSources } from '../support/plays/consumer-of-sources';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

describeOnDynamoDbEmulators('an ordered consumer with transactions', (emulator) => {
  const service = serviceForTests(emulator.start);
  beforeAll(() => createConsumerTables(service.dynamodb));

  test(
    'applies each record of several sources once, and the records of a key in the order of their source',
    async () => {
      for (const method of ['error', 'log'] as const) jest.spyOn(console, method).mockImplementation(() => {});
      for (let seed = 0; seed < randomRuns(40); seed++) {
        try {
          await playConsumerOfSources({ dynamodb: service.dynamodb, seed });
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    },
    randomRunsTimeout(900_000),
  );
});
