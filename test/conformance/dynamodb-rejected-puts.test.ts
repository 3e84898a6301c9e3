import { playRejectedPuts } from '../support/plays/rejected-puts';
import { describeOnDynamoDbEmulators, serviceForTests } from './dynamodb-emulators';

describeOnDynamoDbEmulators('indexRejections', (emulator) => {
  const service = serviceForTests(emulator.start);

  test('names exactly the writes that an index rejects from its creation, for each layout, each kind of write, and each type and size of a key attribute', async () => {
    const { differences, accepted, rejected } = await playRejectedPuts(service.dynamodb, { isLocalRun: false });
    expect(differences).toEqual([]);
    expect(Math.min(accepted, rejected)).toBeGreaterThan(100);
  }, 300_000);
});
