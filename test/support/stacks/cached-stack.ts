import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  CqlType,
  DaxCluster,
  KeyShardedTable,
  ShardCounts,
  ShardedKeyspacesTable,
  ShardMonitoring,
} from '../../../lib';

/** A `KeyShardedTable` behind DAX and a Keyspaces table, both with monitoring. */
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
    const blogs = new ShardedKeyspacesTable(this, 'Blogs', {
      keyspaceName: 'tracker',
      tableName: 'blogs',
      partitionKey: [{ name: 'publish_date', cqlType: CqlType.DATE }],
      clusteringColumns: [{ name: 'title', cqlType: CqlType.TEXT }],
      shardCounts: ShardCounts.uniform(5),
    });
    monitoring.addKeyspacesTable(blogs);
  }
}
