import { Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import {
  AdaptiveShardCountController,
  FanOutQueryFunction,
  KeyLayout,
  ShardCounts,
  ShardedTable,
} from 'cdk-even-shards';
import type { Construct } from 'constructs';

export interface AdaptiveOrdersProps extends StackProps {
  /** The folder with the bundle of `place-orders.ts`. */
  readonly code: string;
}

/**
 * A table of orders with an index by status. The stack sets no shard count: each status begins with one shard, and gets
 * more shards when its writes are throttled.
 */
export class AdaptiveOrdersStack extends Stack {
  constructor(scope: Construct, id: string, props: AdaptiveOrdersProps) {
    super(scope, id, props);
    const orders = new ShardedTable(this, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
    const byStatus = orders.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      shardCounts: ShardCounts.adaptive({ maximum: 32 }),
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE, // for emulators without multi-attribute keys
    });
    const placeOrders = new LambdaFunction(this, 'PlaceOrders', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromAsset(props.code),
    });
    byStatus.bindWriter(placeOrders);
    new FanOutQueryFunction(this, 'Query', { indexes: [byStatus] });
    new AdaptiveShardCountController(this, 'Controller', { index: byStatus });
  }
}
