// The consumer of the tour: adds each commit to the list of its repository. A commit of a repository that is not in the
// table fails. It does not use `once`, so a commit that is delivered twice is in the list twice.
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from 'cdk-even-shards/consumer';

const dynamodb = new DynamoDB({});
const TableName = process.env.REPOSITORIES_TABLE_NAME;

const consumer = new OrderedConsumer(
  async ({ partitionKey, data }) => {
    const Key = { repository: { S: partitionKey } };
    const { Item } = await dynamodb.getItem({ TableName, Key, ConsistentRead: true });
    if (Item === undefined) throw new Error(`unknown repository: ${partitionKey}`);
    await dynamodb.updateItem({
      TableName,
      Key,
      UpdateExpression: 'SET commits = list_append(commits, :commit)',
      ExpressionAttributeValues: { ':commit': { L: [{ N: `${JSON.parse(Buffer.from(data).toString()).commit}` }] } },
    });
  },
  { parking: DynamoDbParkingStore.fromEnvironment(dynamodb) },
);

export const { handler } = consumer;
