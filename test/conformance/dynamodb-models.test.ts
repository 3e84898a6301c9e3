import { type LocalClients, localClients } from '../../bin/local/emulators/clients';
import { EVERYTHING } from '../support/fakes/fan-out-model';
import { playIndexAnswers } from '../support/plays/index-answers';
import { playTableAnswers } from '../support/plays/table-answers';
import { randomRuns, randomRunsTimeout } from '../support/random-runs';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

/** The stand-ins for DynamoDB that tests use, and an emulator, asked the same: docs/models.md. */
describeOnDynamoDbEmulators('the stand-ins for DynamoDB', (emulator) => {
  let service: Awaited<ReturnType<typeof emulator.start>>;
  let clients: LocalClients;
  beforeAll(async () => {
    service = await emulator.start();
    const { endpoint } = service;
    clients = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
  }, 60_000);
  afterAll(async () => {
    clients?.dynamodb.destroy();
    await service?.stop();
  });

  test(
    'a fake index answers as the service does',
    async () => {
      const isAmazons = emulator.name === 'DynamoDB Local';
      const known = { freeEmptyReads: isAmazons, otherWords: true, endsPagesOtherwise: !isAmazons };
      const compared = await playIndexAnswers(clients.dynamodb, EVERYTHING, {
        calls: randomRuns(200),
        seed: 1,
        known,
      });
      console.info(`queries on ${emulator.name}`, compared);
    },
    randomRunsTimeout(300_000),
  );

  test(
    'a fake table answers as the service does',
    async () => {
      const compared = await playTableAnswers(clients.dynamodb, {
        calls: randomRuns(600),
        seed: 1,
        transactional: true,
        keepsNotation: true,
      });
      console.info(`writes on ${emulator.name}`, compared);
    },
    randomRunsTimeout(300_000),
  );
});
