import { localClients } from '../../bin/local/emulators/clients';
import { playRejectedPuts } from '../support/plays/rejected-puts';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

describeOnDynamoDbEmulators('indexRejections', (emulator) => {
  test('names exactly the puts that an index rejects, for each type and size of a key attribute', async () => {
    const { endpoint, stop } = await emulator.start();
    const { dynamodb } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
    try {
      expect((await playRejectedPuts(dynamodb)).differences).toEqual([]);
    } finally {
      dynamodb.destroy();
      await stop();
    }
  }, 120_000);
});
