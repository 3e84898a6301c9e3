import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from '../../../lib/core/consumer';

const dynamodb = new DynamoDB({});

/** Appends each record to the list of its key. Fails for the text "poison". */
const consumer = new OrderedConsumer(
  async ({ partitionKey, data }) => {
    const text = Buffer.from(data).toString();
    if (text === 'poison') throw new Error('poison cannot be appended');
    await dynamodb.updateItem({
      TableName: process.env.LISTS_TABLE_NAME,
      Key: { id: { S: partitionKey } },
      UpdateExpression: 'SET texts = list_append(if_not_exists(texts, :none), :text)',
      ExpressionAttributeValues: { ':none': { L: [] }, ':text': { L: [{ S: text }] } },
    });
  },
  { parking: DynamoDbParkingStore.fromEnvironment(dynamodb), retryMs: 1 },
);

export const handler = consumer.handler;
