import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';

const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export async function handler({ jobId }) {
  await documents.send(new PutCommand({ TableName: process.env.JOB_TABLE, Item: { jobId, status: 'processed' } }));
  return { statusCode: 200, body: JSON.stringify({ jobId }) };
}
