import { listOf, type Properties } from '../cloudformation/template';
import { isObject } from '../core/kernel/checks';

/**
 * The effects of updates of a resource type's properties. A test compares the properties with those of the AWS service
 * specification and of the CDK.
 */
interface UpdateEffects {
  /**
   * CloudFormation updates the resource without an interruption. Some values of these properties still do harm, and the
   * findings of the type report them.
   */
  readonly none: readonly string[];
  /** The resource is unavailable for a short time. Source: the CloudFormation reference, "Update requires". */
  readonly interruption?: readonly string[];
  /**
   * CloudFormation creates another resource. Source: the AWS service specification. A path such as
   * `RegularColumns.ColumnType` is a field of each element of a list, and applies to an element that keeps its name.
   */
  readonly replacement?: readonly string[];
  /** AWS rejects every update. The text says what to do instead. */
  readonly rejected?: Readonly<Record<string, string>>;
  /**
   * The values of absent properties, also of properties inside other properties. A change between an absent property and
   * its default is no update.
   */
  readonly defaults?: Readonly<Record<string, string>>;
}

const OTHER_KEY = 'Add another key, and keep this key as long as data is encrypted with it';

/** The effects of updates, for each resource type that the check covers. */
export const UPDATE_EFFECTS: Readonly<Record<string, UpdateEffects>> = {
  'AWS::Cassandra::Keyspace': {
    replacement: ['KeyspaceName', 'ReplicationSpecification'],
    none: ['ClientSideTimestampsEnabled', 'Tags'],
    defaults: { ReplicationStrategy: 'SINGLE_REGION' },
  },
  'AWS::Cassandra::Table': {
    replacement: [
      'ClientSideTimestampsEnabled',
      'ClusteringKeyColumns',
      'KeyspaceName',
      'PartitionKeyColumns',
      'RegularColumns.ColumnName',
      'RegularColumns.ColumnType',
      'TableName',
    ],
    none: [
      'AutoScalingSpecifications',
      'BillingMode',
      'CdcSpecification',
      'DefaultTimeToLive',
      'EncryptionSpecification',
      'PointInTimeRecoveryEnabled',
      'RegularColumns',
      'ReplicaSpecifications',
      'Tags',
      'WarmThroughput',
    ],
    defaults: { OrderBy: 'ASC' },
  },
  'AWS::DAX::Cluster': {
    replacement: [
      'ClusterEndpointEncryptionType',
      'ClusterName',
      'IAMRoleARN',
      'NetworkType',
      'NodeType',
      'SSESpecification',
      'SubnetGroupName',
    ],
    none: [
      'AvailabilityZones',
      'Description',
      'NotificationTopicARN',
      'ParameterGroupName',
      'PreferredMaintenanceWindow',
      'ReplicationFactor',
      'SecurityGroupIds',
      'Tags',
    ],
    defaults: { ClusterEndpointEncryptionType: 'NONE', NetworkType: 'ipv4' },
  },
  'AWS::DAX::ParameterGroup': {
    replacement: ['Description', 'ParameterGroupName'],
    none: [],
    // Source: the DynamoDB developer guide, "Configuring TTL settings" of DAX.
    rejected: {
      ParameterNameValues:
        'DAX rejects that while a running cluster uses the group. Give the cluster another parameter group, with another construct id',
    },
  },
  'AWS::DynamoDB::GlobalTable': {
    replacement: [
      'KeySchema',
      'LocalSecondaryIndexes',
      'TableName',
      'VectorIndexes.Projection.NonKeyAttributes',
      'VectorIndexes.Projection.ProjectionType',
    ],
    none: [
      'AttributeDefinitions',
      'BillingMode',
      'GlobalSecondaryIndexes',
      'GlobalTableSourceArn',
      'GlobalTableWitnesses',
      'ReadOnDemandThroughputSettings',
      'ReadProvisionedThroughputSettings',
      'Replicas',
      'SSESpecification',
      'StreamSpecification',
      'TableType',
      'TimeToLiveSpecification',
      'VectorIndexes',
      'WarmThroughput',
      'WriteOnDemandThroughputSettings',
      'WriteProvisionedThroughputSettings',
    ],
    // Source: the DynamoDB developer guide, "Global tables: multi-Region strong consistency".
    rejected: {
      MultiRegionConsistency:
        'DynamoDB rejects that for a table with replicas or items. Create another table with this consistency, and copy the items',
    },
    defaults: { MultiRegionConsistency: 'EVENTUAL' },
  },
  'AWS::DynamoDB::Table': {
    replacement: ['ImportSourceSpecification', 'KeySchema', 'TableName'],
    interruption: ['AttributeDefinitions', 'SSESpecification'],
    none: [
      'BillingMode',
      'ContributorInsightsSpecification',
      'DeletionProtectionEnabled',
      'GlobalSecondaryIndexes',
      'KinesisStreamSpecification',
      'OnDemandThroughput',
      'PointInTimeRecoverySpecification',
      'ProvisionedThroughput',
      'ResourcePolicy',
      'StreamSpecification',
      'TableClass',
      'Tags',
      'TimeToLiveSpecification',
      'VectorIndexes',
      'WarmThroughput',
    ],
    // Source: the DynamoDB developer guide, "Local secondary indexes".
    rejected: {
      LocalSecondaryIndexes:
        'DynamoDB cannot add, change or delete a local secondary index of an existing table. Add a global secondary index, or create another ' +
        'table and copy the items',
    },
  },
  'AWS::KMS::Key': {
    none: [
      'BypassPolicyLockoutSafetyCheck',
      'Description',
      'EnableKeyRotation',
      'Enabled',
      'KeyPolicy',
      'PendingWindowInDays',
      'RotationPeriodInDays',
      'Tags',
    ],
    // Source: the CloudFormation reference, AWS::KMS::Key.
    rejected: {
      KeySpec: `AWS KMS rejects that. ${OTHER_KEY}`,
      KeyUsage: `AWS KMS rejects that. ${OTHER_KEY}`,
      MultiRegion: `AWS KMS rejects that. ${OTHER_KEY}`,
      Origin: `AWS KMS rejects that. ${OTHER_KEY}`,
    },
    defaults: { KeySpec: 'SYMMETRIC_DEFAULT', KeyUsage: 'ENCRYPT_DECRYPT', Origin: 'AWS_KMS' },
  },
  'AWS::Kinesis::Stream': {
    replacement: ['Name'],
    none: [
      'DesiredShardLevelMetrics',
      'MaxRecordSizeInKiB',
      'RecordDistributionStrategy',
      'RetentionPeriodHours',
      'ShardCount',
      'StreamEncryption',
      'StreamModeDetails',
      'Tags',
      'WarmThroughputMiBps',
    ],
  },
  'AWS::Kinesis::StreamConsumer': { replacement: ['ConsumerName', 'StreamARN', 'Tags'], none: [] },
  'AWS::Lambda::EventSourceMapping': {
    replacement: [
      'AmazonManagedKafkaEventSourceConfig',
      'EventSourceArn',
      'SelfManagedEventSource',
      'SelfManagedKafkaEventSourceConfig',
      'StartingPosition',
      'StartingPositionTimestamp',
    ],
    none: [
      'BatchSize',
      'BisectBatchOnFunctionError',
      'DestinationConfig',
      'DocumentDBEventSourceConfig',
      'Enabled',
      'FilterCriteria',
      'FunctionName',
      'FunctionResponseTypes',
      'KmsKeyArn',
      'LoggingConfig',
      'MaximumBatchingWindowInSeconds',
      'MaximumRecordAgeInSeconds',
      'MaximumRetryAttempts',
      'MetricsConfig',
      'ParallelizationFactor',
      'ProvisionedPollerConfig',
      'Queues',
      'ScalingConfig',
      'SourceAccessConfigurations',
      'Tags',
      'Topics',
      'TumblingWindowInSeconds',
    ],
  },
  'AWS::Lambda::Function': {
    replacement: ['FunctionName', 'PackageType', 'TenancyConfig'],
    none: [
      'Architectures',
      'CapacityProviderConfig',
      'Code',
      'CodeSigningConfigArn',
      'DeadLetterConfig',
      'Description',
      'DurableConfig',
      'Environment',
      'EphemeralStorage',
      'FileSystemConfigs',
      'FunctionScalingConfig',
      'Handler',
      'ImageConfig',
      'KmsKeyArn',
      'Layers',
      'LoggingConfig',
      'MemorySize',
      'PublishToLatestPublished',
      'RecursiveLoop',
      'ReservedConcurrentExecutions',
      'Role',
      'Runtime',
      'RuntimeManagementConfig',
      'SnapStart',
      'Tags',
      'Timeout',
      'TracingConfig',
      'VpcConfig',
    ],
    defaults: { PackageType: 'Zip' },
  },
  'AWS::SQS::Queue': {
    replacement: ['FifoQueue', 'QueueName'],
    none: [
      'ContentBasedDeduplication',
      'DeduplicationScope',
      'DelaySeconds',
      'FifoThroughputLimit',
      'KmsDataKeyReusePeriodSeconds',
      'KmsMasterKeyId',
      'MaximumMessageSize',
      'MessageRetentionPeriod',
      'ReceiveMessageWaitTimeSeconds',
      'RedriveAllowPolicy',
      'RedrivePolicy',
      'SqsManagedSseEnabled',
      'Tags',
      'VisibilityTimeout',
    ],
  },
  'AWS::StepFunctions::StateMachine': {
    replacement: ['StateMachineName', 'StateMachineType'],
    none: [
      'Definition',
      'DefinitionS3Location',
      'DefinitionString',
      'DefinitionSubstitutions',
      'EncryptionConfiguration',
      'LoggingConfiguration',
      'RoleArn',
      'Tags',
      'TracingConfiguration',
    ],
    defaults: { StateMachineType: 'STANDARD' },
  },
};

/** The effects of updates of a resource type. A type that the check does not cover has no effects. */
export function updateEffects(type: string): UpdateEffects {
  return Object.hasOwn(UPDATE_EFFECTS, type) ? UPDATE_EFFECTS[type]! : { none: [] };
}

/** Whether an update changes a property of a resource, or a field of an element that keeps its name. */
export function isUpdated(
  type: string,
  path: string,
  deployed: Properties = {},
  synthesized: Properties = {},
): boolean {
  const [property = '', ...fields] = path.split('.');
  const [before, next] = [deployed[property], synthesized[property]];
  if (fields.length === 0) return settingText(before, type, property) !== settingText(next, type, property);
  return listOf<Properties>(next).some((element) => {
    const existing = listOf<Properties>(before).find((each) => nameOf(each) === nameOf(element));
    const [from, to] = [existing, element].map((each) =>
      settingText(
        fields.reduce<unknown>((inner, field) => Object(inner)[field], each),
        type,
        fields.at(-1),
      ),
    );
    return existing !== undefined && from !== to;
  });
}

function nameOf({ ColumnName, IndexName }: Properties): unknown {
  return ColumnName ?? IndexName;
}

/** Lists whose order has no meaning. */
const UNORDERED: readonly string[] = ['LocalSecondaryIndexes', 'NonKeyAttributes', 'RegionList', 'Tags'];

/**
 * A property as text for comparisons of templates. Values that CloudFormation treats as equal have the same text:
 *
 * - an absent value, the default of the type, `false` and an empty list
 * - a number or a boolean, and its text
 * - objects whose fields have another order
 */
export function settingText(value: unknown, type = '', property = ''): string {
  const known = comparable(value, property, updateEffects(type).defaults ?? {});
  return known === undefined ? '' : JSON.stringify(known);
}

function comparable(value: unknown, property: string, defaults: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item, '', defaults) ?? null);
    if (UNORDERED.includes(property))
      items.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
    return items.length === 0 ? undefined : items;
  }
  if (isObject(value)) {
    const entries = Object.entries(value).flatMap(([name, field]) => {
      const known = comparable(field, name, defaults);
      return known === undefined ? [] : [[name, known] as const];
    });
    return entries.length === 0
      ? undefined
      : Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
  }
  const text = value === undefined || value === null ? undefined : String(value);
  const isAbsent = text === 'false' || (Object.hasOwn(defaults, property) && defaults[property] === text);
  return isAbsent ? undefined : text;
}
