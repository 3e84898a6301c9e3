import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from 'cdk-even-shards/consumer';

const dynamodb = new DynamoDB({});

/** Adds each order to its customer's list, once and in order. A failed order delays only the orders of its customer. */
const consumer = new OrderedConsumer(
  async ({ partitionKey, data }, { once }) => {
    const { orderId }: { orderId: string } = JSON.parse(Buffer.from(data).toString());
    const append = {
      Update: {
        TableName: process.env.ORDERS_TABLE_NAME,
        Key: { customer: { S: partitionKey } },
        UpdateExpression: 'SET orders = list_append(if_not_exists(orders, :none), :order)',
        ExpressionAttributeValues: { ':none': { L: [] }, ':order': { L: [{ S: orderId }] } },
      },
    };
    await dynamodb.transactWriteItems({ TransactItems: once([append]) });
  },
  { parking: DynamoDbParkingStore.fromEnvironment(dynamodb) },
);

export const handler = consumer.handler;
