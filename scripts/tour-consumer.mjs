// The consumer of the tour: adds each order to the list of its customer. An order of an unknown product fails. It does
// not use `once`, so an order that is delivered twice is in the list twice.
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from 'cdk-even-shards/consumer';

const dynamodb = new DynamoDB({});
const { PRODUCTS_TABLE_NAME, CUSTOMERS_TABLE_NAME } = process.env;

const consumer = new OrderedConsumer(
  async ({ partitionKey, data }) => {
    const { order, product } = JSON.parse(Buffer.from(data).toString());
    const sold = await dynamodb.getItem({ TableName: PRODUCTS_TABLE_NAME, Key: { name: { S: product } } });
    if (sold.Item === undefined) throw new Error(`unknown product: ${product}`);
    await dynamodb.updateItem({
      TableName: CUSTOMERS_TABLE_NAME,
      Key: { name: { S: partitionKey } },
      UpdateExpression: 'SET orders = list_append(if_not_exists(orders, :none), :order)',
      ExpressionAttributeValues: { ':none': { L: [] }, ':order': { L: [{ N: `${order}` }] } },
    });
  },
  { parking: DynamoDbParkingStore.fromEnvironment(dynamodb) },
);

export const { handler } = consumer;
