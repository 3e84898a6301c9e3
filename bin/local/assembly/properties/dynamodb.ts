import type { PropertyTable } from './property-table';

const KEYS_AND_INDEXES = [
  'AttributeDefinitions.AttributeName',
  'AttributeDefinitions.AttributeType',
  'GlobalSecondaryIndexes.IndexName',
  'GlobalSecondaryIndexes.KeySchema.AttributeName',
  'GlobalSecondaryIndexes.KeySchema.KeyType',
  'GlobalSecondaryIndexes.Projection.NonKeyAttributes',
  'GlobalSecondaryIndexes.Projection.ProjectionType',
  'KeySchema.AttributeName',
  'KeySchema.KeyType',
  'LocalSecondaryIndexes.IndexName',
  'LocalSecondaryIndexes.KeySchema.AttributeName',
  'LocalSecondaryIndexes.KeySchema.KeyType',
  'LocalSecondaryIndexes.Projection.NonKeyAttributes',
  'LocalSecondaryIndexes.Projection.ProjectionType',
  'StreamSpecification.StreamViewType',
  'TableName',
];

const NO_MAXIMUM = 'no on-demand maximum limits the requests';
const NO_VECTORS = 'the emulators have no vector indexes';
const NO_CHANGES = 'the emulators send no item changes to a Kinesis stream';

const NO_METRICS = 'CloudWatch is not emulated';
const NO_ACCESS_CONTROL = 'only billing and access control use tags and policies';
const IN_MEMORY = 'the table is in memory until the run ends';
const NO_WARMTH = 'throughput does not depend on earlier traffic';
const LATE = 'DynamoDB deletes an expired item days later, and a run ends before';
const NO_CAPACITY = 'the capacity of a table limits no request';

export const TABLE: PropertyTable = {
  honoured: KEYS_AND_INDEXES,
  withoutEffect: {
    [NO_CAPACITY]: ['BillingMode', 'GlobalSecondaryIndexes.ProvisionedThroughput', 'ProvisionedThroughput'],
    [NO_METRICS]: ['ContributorInsightsSpecification', 'GlobalSecondaryIndexes.ContributorInsightsSpecification'],
    [NO_ACCESS_CONTROL]: ['ResourcePolicy', 'StreamSpecification.ResourcePolicy', 'StreamSpecification.Tags', 'Tags'],
    [IN_MEMORY]: ['DeletionProtectionEnabled', 'PointInTimeRecoverySpecification', 'SSESpecification', 'TableClass'],
    [NO_WARMTH]: ['GlobalSecondaryIndexes.WarmThroughput', 'WarmThroughput'],
    [LATE]: ['TimeToLiveSpecification'],
  },
  named: {
    [NO_MAXIMUM]: ['GlobalSecondaryIndexes.OnDemandThroughput', 'OnDemandThroughput'],
    [NO_VECTORS]: ['VectorIndexes'],
    [NO_CHANGES]: ['KinesisStreamSpecification'],
    'the table starts empty': ['ImportSourceSpecification'],
  },
};

export const GLOBAL_TABLE: PropertyTable = {
  honoured: [...KEYS_AND_INDEXES, 'GlobalTableSourceArn'],
  withoutEffect: {
    'one local table stands for all replicas': [
      'GlobalTableWitnesses',
      'Replicas.DisassociationProtectionEnabled',
      'Replicas.GlobalSecondaryIndexes.IndexName',
      'Replicas.GlobalTableSettingsReplicationMode',
      'Replicas.Region',
      'TableType',
    ],
    [NO_CAPACITY]: [
      'BillingMode',
      'GlobalSecondaryIndexes.WriteProvisionedThroughputSettings',
      'Replicas.GlobalSecondaryIndexes.ReadProvisionedThroughputSettings',
      'Replicas.ReadProvisionedThroughputSettings',
      'WriteProvisionedThroughputSettings',
    ],
    'only a replica in another account has it, and that replica is left out': [
      'GlobalSecondaryIndexes.ReadOnDemandThroughputSettings',
      'GlobalSecondaryIndexes.ReadProvisionedThroughputSettings',
      'ReadOnDemandThroughputSettings',
      'ReadProvisionedThroughputSettings',
    ],
    [NO_METRICS]: [
      'Replicas.ContributorInsightsSpecification',
      'Replicas.GlobalSecondaryIndexes.ContributorInsightsSpecification',
    ],
    [NO_ACCESS_CONTROL]: ['Replicas.ReplicaStreamSpecification', 'Replicas.ResourcePolicy', 'Replicas.Tags'],
    [IN_MEMORY]: [
      'Replicas.DeletionProtectionEnabled',
      'Replicas.PointInTimeRecoverySpecification',
      'Replicas.SSESpecification',
      'Replicas.TableClass',
      'SSESpecification',
    ],
    [NO_WARMTH]: ['GlobalSecondaryIndexes.WarmThroughput', 'WarmThroughput'],
    [LATE]: ['TimeToLiveSpecification'],
  },
  named: {
    [NO_MAXIMUM]: [
      'GlobalSecondaryIndexes.WriteOnDemandThroughputSettings',
      'Replicas.GlobalSecondaryIndexes.ReadOnDemandThroughputSettings',
      'Replicas.ReadOnDemandThroughputSettings',
      'WriteOnDemandThroughputSettings',
    ],
    [NO_VECTORS]: ['VectorIndexes'],
    [NO_CHANGES]: ['Replicas.KinesisStreamSpecification'],
    'the local table accepts transactions, which a table with strong consistency rejects': ['MultiRegionConsistency'],
  },
  harmless: { MultiRegionConsistency: 'EVENTUAL' },
};
