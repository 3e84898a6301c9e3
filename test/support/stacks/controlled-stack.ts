import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { AdaptiveShardCountController, IndexKeeper, ShardCounts, ShardedTable, ShardMonitoring } from '../../../lib';

/** A stack that has an index with adaptive counts, a keeper of this index, and monitoring. */
export class ControlledStack extends Stack {
  constructor(app: App) {
    super(app, 'Controlled', { env: { account: '111111111111', region: 'eu-west-1' } });
    const orders = new ShardedTable(this, 'Orders', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
    const index = orders.addShardedIndex({ indexName: 'byTime', shardCounts: ShardCounts.adaptive() });
    const shardCountController = new AdaptiveShardCountController(this, 'Controller', { index });
    const monitoring = new ShardMonitoring(this, 'Monitoring');
    monitoring.addIndex(index, { shardCountController, writeThrottleAlarm: false });
    monitoring.addIndexKeeper(new IndexKeeper(this, 'Keeper', { indexes: [index] }));
  }
}
