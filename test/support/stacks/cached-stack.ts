import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { DaxCluster, KeyShardedTable, ShardCounts, ShardMonitoring } from '../../../lib';

/** A table that is sharded by its own key, behind a cache, watched. */
export class CachedStack extends Stack {
  constructor(app: App) {
    super(app, 'Cached', { env: { account: '111111111111', region: 'eu-west-1' } });
    const table = new KeyShardedTable(this, 'Invoices', {
      partitionKey: { name: 'InvoiceNumber', type: AttributeType.STRING },
      sortKey: { name: 'ClientTransactionId', type: AttributeType.STRING },
      shardCounts: ShardCounts.uniform(5),
    });
    const cluster = new DaxCluster(this, 'Dax', { vpc: new Vpc(this, 'Vpc'), tables: [table] });
    const monitoring = new ShardMonitoring(this, 'Monitoring');
    monitoring.addTable(table);
    monitoring.addDaxCluster(cluster);
  }
}
