import type { Resource } from './template';

/** What CloudFormation knows of a type of resource, as far as a deployment can do harm by it. */
interface KeptType {
  /** The property that holds a name of the user's choice. CloudFormation makes a new resource before it deletes the old one. */
  readonly name?: string;
  /** Properties that CloudFormation changes by making a new resource ("Update requires: Replacement"). */
  readonly replacing: readonly string[];
  /** What it is, in words: "the table". */
  readonly kind: string;
  /** What is in it that a new one would not have; absent where nothing is. */
  readonly holds?: string;
  /** What comes of a new one, if it holds nothing. */
  readonly consequence?: string;
}

/** The types whose replacement or end somebody notices. A test compares the properties with the CDK's own record of CloudFormation. */
export const KEPT_TYPES: Readonly<Record<string, KeptType>> = {
  'AWS::Cassandra::Keyspace': {
    name: 'KeyspaceName',
    replacing: ['KeyspaceName', 'ReplicationSpecification'],
    kind: 'the keyspace',
    holds: 'its tables',
  },
  'AWS::Cassandra::Table': {
    name: 'TableName',
    replacing: [
      'ClientSideTimestampsEnabled',
      'ClusteringKeyColumns',
      'KeyspaceName',
      'PartitionKeyColumns',
      'TableName',
    ],
    kind: 'the table',
    holds: 'its rows',
  },
  'AWS::DAX::Cluster': {
    name: 'ClusterName',
    replacing: [
      'ClusterEndpointEncryptionType',
      'ClusterName',
      'IAMRoleARN',
      'NetworkType',
      'NodeType',
      'SSESpecification',
      'SubnetGroupName',
    ],
    kind: 'the cluster',
    consequence:
      'the new one has another endpoint and an empty cache, so the tables get every read until it is filled, and clients ' +
      'that were given the endpoint by hand fail',
  },
  'AWS::DynamoDB::GlobalTable': {
    name: 'TableName',
    replacing: ['KeySchema', 'LocalSecondaryIndexes', 'TableName'],
    kind: 'the table',
    holds: 'its items',
  },
  'AWS::DynamoDB::Table': {
    name: 'TableName',
    replacing: ['ImportSourceSpecification', 'KeySchema', 'TableName'],
    kind: 'the table',
    holds: 'its items',
  },
  'AWS::KMS::Key': { replacing: [], kind: 'the key', holds: 'all that only it can decrypt' },
  'AWS::Kinesis::Stream': {
    name: 'Name',
    replacing: ['Name'],
    kind: 'the stream',
    holds: 'the records that consumers have not read yet',
  },
  'AWS::Kinesis::StreamConsumer': {
    name: 'ConsumerName',
    replacing: ['ConsumerName', 'StreamARN', 'Tags'],
    kind: 'the consumer',
    consequence: 'the new one has another ARN, and whoever reads by the earlier one fails',
  },
  'AWS::Lambda::EventSourceMapping': {
    replacing: [
      'AmazonManagedKafkaEventSourceConfig',
      'EventSourceArn',
      'SelfManagedEventSource',
      'SelfManagedKafkaEventSourceConfig',
      'StartingPosition',
      'StartingPositionTimestamp',
    ],
    kind: 'the event source mapping',
    consequence:
      'the new one begins at its own starting position and not where the earlier one has stopped: with TRIM_HORIZON, records ' +
      'come a second time; with LATEST, those that were not read yet never come',
  },
  'AWS::Lambda::Function': {
    name: 'FunctionName',
    replacing: ['FunctionName', 'PackageType', 'TenancyConfig'],
    kind: 'the function',
    consequence: 'whoever calls it by the earlier name or ARN fails',
  },
  'AWS::SQS::Queue': {
    name: 'QueueName',
    replacing: ['FifoQueue', 'QueueName'],
    kind: 'the queue',
    holds: 'the messages that wait in it',
  },
  'AWS::StepFunctions::StateMachine': {
    name: 'StateMachineName',
    replacing: ['StateMachineName', 'StateMachineType'],
    kind: 'the state machine',
    consequence: 'executions that run end with the earlier one, and whoever starts it by its ARN fails',
  },
};

export function keptType(type: string): KeptType | undefined {
  return Object.hasOwn(KEPT_TYPES, type) ? KEPT_TYPES[type] : undefined;
}

/** The name that a template gives a resource, if it gives one. */
export function fixedName({ Type, Properties }: Resource): string | undefined {
  const { name } = keptType(Type) ?? {};
  const given = name === undefined ? undefined : Properties?.[name];
  return typeof given === 'string' ? given : undefined;
}

/** What becomes of a resource that a stack gives up, and of what it holds. */
export function fateOf(resource: Resource, policy: string | undefined): { isDeleted: boolean; words: string } {
  const { holds } = keptType(resource.Type)!;
  const withContent = holds === undefined ? '' : ` with ${holds}`;
  const isDeleted = policy === undefined || policy === 'Delete';
  if (!isDeleted) return { isDeleted, words: `stays in the account${withContent}, outside of every stack` };
  if (isProtected(resource))
    return { isDeleted, words: `is to be deleted${withContent}, which its deletion protection refuses` };
  return { isDeleted, words: `is deleted${withContent}` };
}

function isProtected({ Properties }: Resource): boolean {
  const replicas = Array.isArray(Properties?.Replicas) ? Properties.Replicas : [];
  return [Properties, ...replicas].some((each) => each?.DeletionProtectionEnabled === true);
}
