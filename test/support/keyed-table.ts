import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDB } from '@aws-sdk/client-dynamodb';

/** Creates a table with a key of one or two strings, and waits until the table is active. */
export async function createKeyedTable(
  dynamoDb: Pick<DynamoDB, 'createTable' | 'describeTable'>,
  TableName: string,
  ...key: [partitionKey: string, sortKey?: string]
): Promise<void> {
  await dynamoDb.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: key.map((AttributeName, at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
    AttributeDefinitions: key.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  });
  while ((await dynamoDb.describeTable({ TableName })).Table?.TableStatus !== 'ACTIVE') await sleep(5);
}
