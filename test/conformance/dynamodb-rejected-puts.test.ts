import { localClients } from '../../bin/local/emulators/clients';
import { playRejectedPuts } from '../support/plays/rejected-puts';
import { describeOnDynamoDbEmulators } from './dynamodb-emulators';

describeOnDynamoDbEmulators('indexRejections', (emulator) => {
  test('names exactly the writes that an index rejects from its creation, for each layout, each kind of write, and each type and size of a key attribute', async () => {
    const { endpoint, stop } = await emulator.start();
    const { dynamodb } = localClients({ kinesis: endpoint, dynamodb: endpoint, lambda: endpoint });
    try {
      const { differences, accepted, rejected } = await playRejectedPuts(dynamodb, { isLocalRun: false });
      expect(differences).toEqual([]);
      expect(Math.min(accepted, rejected)).toBeGreaterThan(100);
    } finally {
      dynamodb.destroy();
      await stop();
    }
  }, 300_000);
});
