import type { PropertyTable } from './property-table';

const ONLY_ACCESS = 'only billing and access control use tags and roles';
const NO_WARM_INSTANCES = 'the run starts instances when it needs them';
const NO_DESCRIPTION = 'it only describes the resource';

export const FUNCTION: PropertyTable = {
  honoured: [
    'Code.ImageUri',
    'Code.S3Key',
    'Code.ZipFile',
    'Environment.Variables',
    'FunctionName',
    'Handler',
    'Layers',
    'MemorySize',
    'Runtime',
    'Timeout',
  ],
  withoutEffect: {
    'the key of the asset identifies the code': ['Code.S3Bucket', 'Code.S3ObjectStorageMode', 'Code.S3ObjectVersion'],
    'this machine runs the code': ['Architectures', 'EphemeralStorage', 'RuntimeManagementConfig'],
    'code and variables are not encrypted': ['Code.SourceKMSKeyArn', 'CodeSigningConfigArn', 'KmsKeyArn'],
    'a function on this machine has the network of this machine': ['VpcConfig'],
    'a function with a container image is left out': ['ImageConfig', 'PackageType'],
    'the run prints each log line, and CloudWatch and X-Ray are not emulated': ['LoggingConfig', 'TracingConfig'],
    [NO_WARM_INSTANCES]: ['FunctionScalingConfig', 'SnapStart'],
    'every version has the code of the template': ['PublishToLatestPublished'],
    'nothing stops a loop of functions': ['RecursiveLoop'],
    [ONLY_ACCESS]: ['Role', 'Tags'],
    [NO_DESCRIPTION]: ['Description'],
  },
  named: {
    'the file system is not mounted': ['FileSystemConfigs'],
    'an instance handles one invocation at a time': ['CapacityProviderConfig'],
    'up to 8 instances of a function run at once': ['ReservedConcurrentExecutions'],
    'a failed invocation is not sent to a dead-letter queue or topic': ['DeadLetterConfig'],
    'a durable function runs without checkpoints': ['DurableConfig'],
    'all tenants share the instances': ['TenancyConfig'],
  },
};

export const VERSION: PropertyTable = {
  honoured: ['FunctionName'],
  withoutEffect: {
    'every version has the code of the template': ['CodeSha256', 'RuntimePolicy'],
    [NO_WARM_INSTANCES]: ['FunctionScalingConfig', 'ProvisionedConcurrencyConfig'],
    [NO_DESCRIPTION]: ['Description'],
  },
  named: {},
};

export const ALIAS: PropertyTable = {
  honoured: ['FunctionName', 'FunctionVersion', 'Name'],
  withoutEffect: {
    'every version has the code of the template': ['RoutingConfig'],
    [NO_WARM_INSTANCES]: ['ProvisionedConcurrencyConfig'],
    [NO_DESCRIPTION]: ['Description'],
  },
  named: {},
};

export const EVENT_SOURCE_MAPPING: PropertyTable = {
  honoured: [
    'BatchSize',
    'BisectBatchOnFunctionError',
    'Enabled',
    'EventSourceArn',
    'FilterCriteria.Filters.Pattern',
    'FunctionName',
    'FunctionResponseTypes',
    'MaximumBatchingWindowInSeconds',
    'MaximumRecordAgeInSeconds',
    'MaximumRetryAttempts',
    'ParallelizationFactor',
    'StartingPosition',
    'StartingPositionTimestamp',
  ],
  withoutEffect: {
    'the source of the mapping is neither a Kinesis stream nor the stream of a table, so the mapping is left out': [
      'AmazonManagedKafkaEventSourceConfig',
      'DocumentDBEventSourceConfig',
      'Queues',
      'ScalingConfig',
      'SelfManagedEventSource',
      'SelfManagedKafkaEventSourceConfig',
      'SourceAccessConfigurations',
      'Topics',
    ],
    'filters are not encrypted': ['KmsKeyArn'],
    'the run prints the progress of a mapping, and CloudWatch is not emulated': ['LoggingConfig', 'MetricsConfig'],
    [NO_WARM_INSTANCES]: ['ProvisionedPollerConfig'],
    [ONLY_ACCESS]: ['Tags'],
  },
  named: {
    'an event has no window and no state': ['TumblingWindowInSeconds'],
    'the run prints discarded records instead of sending them': ['DestinationConfig'],
  },
  harmless: { TumblingWindowInSeconds: 0 },
};
