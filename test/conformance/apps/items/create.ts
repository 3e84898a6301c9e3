import { randomUUID } from 'node:crypto';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';

const documents = DynamoDBDocument.from(new DynamoDB());

export async function handler({ body }: { body?: string }): Promise<object> {
  if (body === undefined) return { statusCode: 400, body: 'the body is missing' };
  const Item = { ...JSON.parse(body), [process.env.PRIMARY_KEY!]: randomUUID() };
  await documents.put({ TableName: process.env.TABLE_NAME!, Item });
  return { statusCode: 201, body: '' };
}
