import type { App } from 'aws-cdk-lib';
import { Key } from 'aws-cdk-lib/aws-kms';
import { BlogsStack } from '../../../examples/keyspaces-blogs/blogs-stack';
import {
  ClusteringOrder,
  CqlType,
  KeyspacesBilling,
  KeyspacesCapacity,
  KeyspacesChangeView,
  KeyspacesFanOutQueryFunction,
  ShardCounts,
  ShardedKeyspacesTable,
} from '../../../lib';

/** The stack of the Keyspaces example, with a second table that uses all features that the example does not use. */
export class KeyspacesStack extends BlogsStack {
  constructor(app: App) {
    super(app, 'Keyspaces', { env: { account: '111111111111', region: 'eu-west-1' } });
    const events = new ShardedKeyspacesTable(this, 'Events', {
      keyspaceName: 'tracker',
      tableName: 'events',
      partitionKey: [
        { name: 'tenant', cqlType: CqlType.UUID },
        { name: 'day', cqlType: CqlType.DATE },
      ],
      clusteringColumns: [
        { name: 'created', cqlType: CqlType.TIMESTAMP, order: ClusteringOrder.DESCENDING },
        { name: 'id', cqlType: CqlType.TIMEUUID },
      ],
      regularColumns: [{ name: 'tags', cqlType: CqlType.of('list<text>') }],
      shardCounts: ShardCounts.byValue({ '6b1f8f0e-3c1a-4a57-9d0c-3f1f5f0a2b11#2020-07-09': 50 }, 10),
      calculatedFrom: ['id'],
      encryptionKey: new Key(this, 'Key', { enableKeyRotation: true }),
      clientSideTimestamps: true,
      changeStream: KeyspacesChangeView.NEW_IMAGE,
      billing: KeyspacesBilling.provisioned({
        readCapacity: KeyspacesCapacity.autoscaled({ maxCapacity: 100 }),
        writeCapacity: KeyspacesCapacity.constant(10),
      }),
    });
    new KeyspacesFanOutQueryFunction(this, 'QueryEvents', { tables: [events] });
  }
}
