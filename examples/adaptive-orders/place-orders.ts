import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { AdaptiveIndex, DynamoDbShardCountReader } from 'cdk-even-shards/adaptive-counts';
import { type ShardedIndexConfig, shardPut } from 'cdk-even-shards/sharded-index';

const config: ShardedIndexConfig = JSON.parse(process.env.BY_STATUS!);
const dynamoDb = new DynamoDB({});
const documents = DynamoDBDocument.from(dynamoDb);

/** The index exists as long as the execution environment, and loads new counts without a deployment. */
const byStatus = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamoDb, config));

export interface Order {
  readonly orderId: string;
  readonly status: string;
  readonly createdAt: string;
}

/** Places orders, and returns the number of shards of their status. */
export async function handler({ orders }: { orders: Order[] }): Promise<{ shards: number }> {
  const index = await byStatus.forWriting(orders.map(({ status }) => status));
  for (const order of orders) await documents.put(shardPut([index], order));
  return { shards: (index.shards.byValue?.[orders[0]!.status] ?? index.shards.default).write };
}
