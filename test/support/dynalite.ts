import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { LOCAL_REGION } from '../../bin/local/assembly/emulated-types';
import { startDynamoDbEmulator } from '../../bin/local/emulators/dynamodb-emulator';
import type { Emulator } from '../../bin/local/emulators/emulator-thread';
import { LOCAL_CREDENTIALS } from '../../bin/local/functions/lambda-environment';

/**
 * DynamoDB on dynalite for the tests of a file or of a block. dynalite starts before the first test and stops after the
 * last test.
 */
export function dynaliteForTests(): { dynamoDb: DynamoDB; endpoint: () => string } {
  let emulator: Emulator | undefined;
  const endpoint = () => emulator!.endpoint;
  const dynamoDb = new DynamoDB({
    region: LOCAL_REGION,
    credentials: LOCAL_CREDENTIALS,
    endpoint: async () => ({ url: new URL(endpoint()) }),
  });
  beforeAll(async () => {
    emulator = await startDynamoDbEmulator();
  }, 60_000);
  afterAll(async () => {
    dynamoDb.destroy();
    await emulator?.stop();
  });
  return { dynamoDb, endpoint };
}
