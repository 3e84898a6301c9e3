import type { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import {
  type FanOutPage,
  fanOutQuery,
  lightQueryClient,
  type QueryClient,
  type ShardedIndexConfig,
  shardAttributes,
  shardUpdate,
} from 'cdk-even-shards/sharded-index';

export interface Order {
  orderId: string;
  status: string;
  createdAt: string;
}

/**
 * Writes and queries orders in a table with an index by status, with the document client of the AWS SDK:
 *
 *     const orders = new Orders(new DynamoDB({}), JSON.parse(process.env.BY_STATUS!));
 */
export class Orders {
  private readonly documents: DynamoDBDocument;
  private readonly queries: QueryClient;

  constructor(
    dynamoDb: DynamoDB,
    private readonly byStatus: ShardedIndexConfig,
  ) {
    this.documents = DynamoDBDocument.from(dynamoDb);
    this.queries = lightQueryClient(dynamoDb);
  }

  async place(order: Order): Promise<void> {
    await this.documents.put({
      TableName: this.byStatus.tableName,
      Item: { ...order, ...shardAttributes(this.byStatus, order) },
      ConditionExpression: 'attribute_not_exists(orderId)',
    });
  }

  /** Moves the order to a shard of its new status. */
  async changeStatus(orderId: string, status: string): Promise<void> {
    await this.documents.update({
      TableName: this.byStatus.tableName,
      Key: { orderId },
      ...shardUpdate([this.byStatus], { orderId }, { set: { status } }),
      ConditionExpression: 'attribute_exists(orderId)',
    });
  }

  /** The newest orders of a status, a page at a time. */
  newest(status: string, cursor?: string): Promise<FanOutPage> {
    return fanOutQuery(this.queries, this.byStatus, { value: status, order: 'descending', limit: 25, cursor });
  }
}
