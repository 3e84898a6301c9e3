import { type App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { DaxCluster, KeyLayout, ShardCounts } from '../../../lib';
import { invoiceTable } from '../../support/fakes/invoice-table';

/** A table that is sharded by its own key, an index of this table, and a DAX cluster in front of both. */
export class DaxStack extends Stack {
  constructor(app: App) {
    super(app, 'Dax', { env: { account: '111111111111', region: 'eu-west-1' } });
    const table = invoiceTable(this);
    const index = table.addShardedIndex({
      indexName: 'byStatus',
      valueAttribute: { name: 'status', type: AttributeType.STRING },
      keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
      shardCounts: ShardCounts.uniform(3),
    });
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId: 'vpc-1',
      availabilityZones: ['eu-west-1a', 'eu-west-1b'],
      privateSubnetIds: ['subnet-1', 'subnet-2'],
    });
    new DaxCluster(this, 'Cache', { vpc, tables: [table], indexes: [index] });
  }
}
