import { localClients } from '../../../../../bin/local/emulators/clients';
import { startDynamoDbEmulator } from '../../../../../bin/local/emulators/dynamodb-emulator';
import {
  createConsumerTables,
  type DynamoDbConsumerFacts,
  playConsumerOnDynamoDb,
} from '../../../../support/plays/consumer-on-dynamodb';
import { randomRuns, randomRunsTimeout } from '../../../../support/random-runs';

/** With the transactions that a local run gives dynalite. `npm run conformance dynamodb` plays it on DynamoDB Local. */
test(
  'an ordered consumer whose effects are transactions applies each record once and in order, whatever crashes, fails, is lost, or runs twice',
  async () => {
    const { endpoint, stop } = await startDynamoDbEmulator();
    const { dynamodb } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
    try {
      await createConsumerTables(dynamodb);
      const all: DynamoDbConsumerFacts[] = [];
      for (let seed = 0; seed < randomRuns(8); seed++) all.push(await playConsumerOnDynamoDb(dynamodb, seed));
      for (const fact of ['crashes', 'lostAnswers', 'refusedCalls', 'parked', 'twoAtOnce'] as const) {
        expect({ fact, isInSome: all.some((each) => each[fact] > 0) }).toEqual({ fact, isInSome: true });
      }
    } finally {
      dynamodb.destroy();
      await stop();
    }
  },
  randomRunsTimeout(180_000),
);
