import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  FanOutQueryFunction,
  OrderedProducerFunction,
  ShardCounts,
  ShardedTable,
  ShardMonitoring,
  UniformStream,
} from '../../../lib';

/** All constructs that operate and monitor streams and indexes. */
export class WatchedStack extends Stack {
  constructor(app: App) {
    super(app, 'Watched', { env: { account: '111111111111', region: 'eu-west-1' } });
    const orders = new UniformStream(this, 'Orders', { shardCount: 32, deployedShardCount: 4 });
    const reconciliation = orders.addReconciliation({ repair: true });
    const clicks = new UniformStream(this, 'Clicks', { shardCount: 4 });
    const autoScaling = clicks.autoScaleShardCount({ minCapacity: 2, maxCapacity: 64 });
    const table = new ShardedTable(this, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
    const byStatus = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(8),
    });

    const monitoring = new ShardMonitoring(this, 'Monitoring');
    monitoring.addStream(orders, { reconciliation });
    monitoring.addStream(clicks, { autoScaling });
    monitoring.addProducer(new OrderedProducerFunction(this, 'Producer', { stream: orders }));
    monitoring.addIndex(byStatus);
    monitoring.addQuery(new FanOutQueryFunction(this, 'Query', { indexes: [byStatus] }));
    const deadLetters = new Queue(this, 'DeadLetters', { enforceSSL: true });
    new Queue(this, 'Inbox', { enforceSSL: true, deadLetterQueue: { queue: deadLetters, maxReceiveCount: 3 } });
    monitoring.addDeadLetterQueue(deadLetters);
  }
}
