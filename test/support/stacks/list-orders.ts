import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from '../../../lib/core/consumer';

const dynamodb = new DynamoDB({});

/**
 * Appends each record to the list of its key. The text of a table's record is the attribute `text` of its new image. Fails
 * for the text "poison".
 */
const consumer = new OrderedConsumer(
  async ({ partitionKey, data }) => {
    const given = Buffer.from(data).toString();
    const text = given.includes('aws:dynamodb') ? JSON.parse(given).dynamodb.NewImage.text.S : given;
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
