import type { PropertyTable } from './property-table';

const NO_SCALING = 'Cassandra has no capacity units';
const ONE_NODE = 'one Cassandra stands for all Regions';
const ONLY_ACCESS = 'only billing and access control use tags';
const TIMESTAMPS = 'Cassandra always accepts the timestamp of a client';

export const TABLE: PropertyTable = {
  honoured: [
    'ClusteringKeyColumns.Column.ColumnName',
    'ClusteringKeyColumns.Column.ColumnType',
    'ClusteringKeyColumns.OrderBy',
    'DefaultTimeToLive',
    'KeyspaceName',
    'PartitionKeyColumns.ColumnName',
    'PartitionKeyColumns.ColumnType',
    'RegularColumns.ColumnName',
    'RegularColumns.ColumnType',
    'TableName',
  ],
  withoutEffect: {
    [NO_SCALING]: ['AutoScalingSpecifications', 'BillingMode', 'WarmThroughput'],
    [ONE_NODE]: ['ReplicaSpecifications'],
    [TIMESTAMPS]: ['ClientSideTimestampsEnabled'],
    'the command changes no backup and no encryption of your Cassandra': [
      'EncryptionSpecification',
      'PointInTimeRecoveryEnabled',
    ],
    [ONLY_ACCESS]: ['Tags'],
  },
  named: { 'the table has no change data capture stream': ['CdcSpecification'] },
};

export const KEYSPACE: PropertyTable = {
  honoured: ['KeyspaceName'],
  withoutEffect: {
    [ONE_NODE]: ['ReplicationSpecification'],
    [TIMESTAMPS]: ['ClientSideTimestampsEnabled'],
    [ONLY_ACCESS]: ['Tags'],
  },
  named: {},
};
