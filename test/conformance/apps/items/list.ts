import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';

const documents = DynamoDBDocument.from(new DynamoDB());

export async function handler(): Promise<object> {
  const { Items } = await documents.scan({ TableName: process.env.TABLE_NAME! });
  return { statusCode: 200, body: JSON.stringify(Items) };
}
