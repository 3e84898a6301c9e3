import type { Resource } from '../cloudformation/template';
import { settingText } from './update-effects';

/** A resource type, and how the replacement or removal of such a resource does harm. */
interface KeptType {
  /**
   * The property with the name of the resource, if the user can choose the name. A replacement with the same name
   * fails, because CloudFormation creates the new resource before it deletes the old resource.
   */
  readonly name?: string;
  /** The type in words, such as "the table". */
  readonly kind: string;
  /** The content of the old resource, which a replacement does not have. Absent for a type without content. */
  readonly holds?: string;
  /** The consequence of a replacement, for a type without content. */
  readonly consequence?: string;
}

/** The types whose replacement or removal does harm. */
export const KEPT_TYPES: Readonly<Record<string, KeptType>> = {
  'AWS::Cassandra::Keyspace': {
    name: 'KeyspaceName',
    kind: 'the keyspace',
    holds: 'its tables',
  },
  'AWS::Cassandra::Table': {
    name: 'TableName',
    kind: 'the table',
    holds: 'its rows',
  },
  'AWS::DAX::Cluster': {
    name: 'ClusterName',
    kind: 'the cluster',
    consequence:
      'the new cluster has another endpoint and an empty cache, so the tables receive every read until the cache is filled, and clients ' +
      'with a fixed endpoint fail',
  },
  'AWS::DynamoDB::GlobalTable': {
    name: 'TableName',
    kind: 'the table',
    holds: 'its items',
  },
  'AWS::DynamoDB::Table': {
    name: 'TableName',
    kind: 'the table',
    holds: 'its items',
  },
  'AWS::KMS::Key': { kind: 'the key', holds: 'the only means to decrypt its data' },
  'AWS::Kinesis::Stream': {
    name: 'Name',
    kind: 'the stream',
    holds: 'the records that consumers have not read yet',
  },
  'AWS::Kinesis::StreamConsumer': {
    name: 'ConsumerName',
    kind: 'the consumer',
    consequence: 'the new consumer has another ARN, and readers with the earlier ARN fail',
  },
  'AWS::Lambda::Function': {
    name: 'FunctionName',
    kind: 'the function',
    consequence: 'callers with the earlier name or ARN fail',
  },
  'AWS::SQS::Queue': {
    name: 'QueueName',
    kind: 'the queue',
    holds: 'the messages that wait in it',
  },
  'AWS::StepFunctions::StateMachine': {
    name: 'StateMachineName',
    kind: 'the state machine',
    consequence: 'running executions end with the earlier state machine, and callers with its ARN fail',
  },
};

export function keptType(type: string): KeptType | undefined {
  return Object.hasOwn(KEPT_TYPES, type) ? KEPT_TYPES[type] : undefined;
}

/** The name of a resource in a template, if the user chose it. A name that only AWS knows is the text of its function. */
export function fixedName({ Type, Properties }: Resource): string | undefined {
  const { name } = keptType(Type) ?? {};
  const given = name === undefined ? undefined : Properties?.[name];
  return typeof given === 'string' || given === undefined ? given : settingText(given);
}

/** The result of a removal: whether CloudFormation deletes the resource, and a description for a finding. */
export function describeRemoval(
  resource: Resource,
  policy: string | undefined,
): { isDeleted: boolean; description: string } {
  const { holds } = keptType(resource.Type)!;
  const withContent = holds === undefined ? '' : ` with ${holds}`;
  const isDeleted = policy === undefined || policy === 'Delete';
  if (!isDeleted) return { isDeleted, description: `stays in the account${withContent}, outside every stack` };
  if (isProtected(resource))
    return { isDeleted, description: `cannot be deleted${withContent}, because of its deletion protection` };
  return { isDeleted, description: `is deleted${withContent}` };
}

function isProtected({ Properties }: Resource): boolean {
  const replicas = Array.isArray(Properties?.Replicas) ? Properties.Replicas : [];
  return [Properties, ...replicas].some((each) => each?.DeletionProtectionEnabled === true);
}
