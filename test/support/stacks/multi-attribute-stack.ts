import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType, ProjectionType, TableEncryptionV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { FanOutQueryFunction, ShardCounts, ShardedTable } from '../../../lib';

/**
 * A stack with the features that the reference app does not have: multi-attribute keys, tie-breakers, and a table with a
 * customer-managed key.
 */
export class MultiAttributeStack extends Stack {
  constructor(app: App) {
    super(app, 'MultiAttribute', { env: { account: '111111111111', region: 'eu-west-1' } });
    const table = new ShardedTable(this, 'Jobs', {
      partitionKey: { name: 'tenant', type: AttributeType.STRING },
      sortKey: { name: 'jobId', type: AttributeType.STRING },
      encryption: TableEncryptionV2.customerManagedKey(new Key(this, 'Key', { enableKeyRotation: true })),
    });
    const byStatus = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      tieBreakers: [
        { name: 'priority', type: AttributeType.NUMBER },
        { name: 'jobId', type: AttributeType.STRING },
      ],
      shardCounts: ShardCounts.byValue({ succeeded: 35 }, 10),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: ['owner'],
    });
    const byTime = table.addShardedIndex({
      indexName: 'byTime',
      sortKey: { name: 'createdAt', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(5),
    });
    new FanOutQueryFunction(this, 'Query', { indexes: [byStatus, byTime] });
  }
}
