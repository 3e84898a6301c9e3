import { Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { FanOutQueryFunction, IndexKeeper, ShardCounts, ShardedTable } from 'cdk-even-shards';
import type { Construct } from 'constructs';

/** The table of an existing app. Its writers know nothing about shards, and an index keeper keeps its sharded index. */
export class PlainWritersStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const jobs = new ShardedTable(this, 'Jobs', {
      tableName: 'jobs',
      partitionKey: { name: 'jobId', type: AttributeType.STRING },
    });
    const byStatus = jobs.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(8),
    });
    new IndexKeeper(this, 'Keeper', { indexes: [byStatus] });
    new FanOutQueryFunction(this, 'Query', { indexes: [byStatus] });
  }
}
