import { DynamoDB, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { DynamoDbParkingStore, OrderedConsumer } from 'cdk-even-shards/consumer';
import type { RepositoryEvent } from './repositories';

const dynamodb = new DynamoDB({});
const TableName = process.env.CACHE_TABLE_NAME;

/**
 * The consumer in "Guaranteeing Order with Kinesis Bulk Puts". It keeps an item for each existing repository, with the
 * hashes of its commits. Each event takes effect once. The items are correct only if the events of each repository
 * arrive in order.
 */
const consumer = new OrderedConsumer(
  async ({ data }, { once }) => {
    const write = writeOf(JSON.parse(Buffer.from(data).toString()));
    if (write !== undefined) await dynamodb.transactWriteItems({ TransactItems: once([write]) });
  },
  { parking: DynamoDbParkingStore.fromEnvironment(dynamodb) },
);

export const handler = consumer.handler;

/** The write for an event. Undefined for an event that does not change the cache. */
function writeOf({ action, repository, commit }: RepositoryEvent): TransactWriteItem | undefined {
  const Key = { repository: { S: repository } };
  if (action === 'create') return { Put: { TableName, Item: { ...Key, commits: { L: [] } } } };
  if (action === 'destroy') return { Delete: { TableName, Key } };
  if (action !== 'commit') return undefined;
  return {
    Update: {
      TableName,
      Key,
      UpdateExpression: 'SET commits = list_append(if_not_exists(commits, :none), :commit)',
      ExpressionAttributeValues: { ':none': { L: [] }, ':commit': { L: [{ S: commit! }] } },
    },
  };
}
