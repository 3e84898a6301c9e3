import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { startDynamoDbEmulator } from '../../../bin/local/emulators/dynamodb-emulator';
import { playGrownCounts, type StartCost } from '../../support/plays/play-grown-counts';

/**
 * Readers and writers of an index with many values whose counts have grown, on dynalite with the AWS SDK.
 *
 *     npm run soak grown-counts [values]
 */
async function soak(values: number): Promise<void> {
  const emulator = await startDynamoDbEmulator();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const dynamoDb = new DynamoDB({ region: 'us-east-1', credentials, endpoint: emulator.endpoint });
  const costText = ({ ms, queries, readUnits }: StartCost): string =>
    `${Math.round(ms)} ms, ${queries} queries, ${readUnits} read units`;
  try {
    const { named, all } = await playGrownCounts(dynamoDb, values);
    console.log(`${values} grown values: a reader of one value begins after ${costText(named)}`);
    console.log(`${values} grown values: a reader of all counts begins after ${costText(all)}`);
  } finally {
    dynamoDb.destroy();
    await emulator.stop();
  }
}

const [values = 100_000] = process.argv.slice(2).map(Number);
void soak(values);
