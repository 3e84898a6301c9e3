import { createHash } from 'node:crypto';

/** The account and region in which every local resource lives. */
export const LOCAL_ACCOUNT = '000000000000';
export const LOCAL_REGION = 'us-east-1';

/** How CloudFormation derives the names, ARNs and attributes of a resource type without a request to the service. */
interface EmulatedType {
  readonly nameProperty: string;
  readonly longestName: number;
  /** The text between the parts of a generated name. @default a hyphen */
  readonly separator?: string;
  /** The part of an ARN between the partition and the name of the resource. */
  readonly arnPrefix: (environment: string) => string;
  /** The result of `Fn::GetAtt` for each attribute. */
  readonly attributes: Readonly<Record<string, (arn: string) => string>>;
}

const ARN = { Arn: (arn: string) => arn };

/**
 * The label at the end of the ARN of a table's stream. In AWS the label is the time at which the stream was turned on.
 * In a local run, the first stream of a table always has the same label, because the plan contains the ARN before the
 * table exists. `earlier` is the number of earlier streams of a table with this name.
 */
export function streamLabel(earlier: number): string {
  return new Date(Date.UTC(2020, 0, 1) + earlier).toISOString().slice(0, -1);
}

const TABLE: EmulatedType = {
  nameProperty: 'TableName',
  longestName: 255,
  arnPrefix: (environment) => `dynamodb:${environment}:table/`,
  attributes: { ...ARN, StreamArn: (arn) => `${arn}/stream/${streamLabel(0)}` },
};

export const EMULATED_TYPES: Readonly<Record<string, EmulatedType>> = {
  'AWS::Kinesis::Stream': {
    nameProperty: 'Name',
    longestName: 128,
    arnPrefix: (environment) => `kinesis:${environment}:stream/`,
    attributes: ARN,
  },
  'AWS::DynamoDB::GlobalTable': TABLE,
  'AWS::DynamoDB::Table': TABLE,
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    longestName: 64,
    arnPrefix: (environment) => `lambda:${environment}:function:`,
    attributes: ARN,
  },
};

const CASSANDRA = {
  longestName: 48,
  separator: '_',
  arnPrefix: (environment: string) => `cassandra:${environment}:/keyspace/`,
  attributes: {},
};

/**
 * The resource types whose names and ARNs a local run can derive. They include the types of Amazon Keyspaces, which
 * have no emulator.
 */
export const NAMED_TYPES: Readonly<Record<string, EmulatedType>> = {
  ...EMULATED_TYPES,
  'AWS::Cassandra::Keyspace': { ...CASSANDRA, nameProperty: 'KeyspaceName' },
  'AWS::Cassandra::Table': { ...CASSANDRA, nameProperty: 'TableName' },
};

/** How a resource that is not emulated gets its `Ref` and its attributes from its name. */
interface ReferencedType {
  readonly nameProperty: string;
  readonly ref: (name: string) => string;
  readonly attributes: Readonly<Record<string, (name: string) => string>>;
}

const ENVIRONMENT = `${LOCAL_REGION}:${LOCAL_ACCOUNT}`;
const ownName = (name: string) => name;
const topicArn = (name: string) => `arn:aws:sns:${ENVIRONMENT}:${name}`;
const queueUrl = (name: string) => `https://sqs.${LOCAL_REGION}.amazonaws.com/${LOCAL_ACCOUNT}/${name}`;

/** The resource types that functions often receive by name, URL or ARN. A reference is known if the name is known. */
export const REFERENCED_TYPES: Readonly<Record<string, ReferencedType>> = {
  'AWS::Events::EventBus': {
    nameProperty: 'Name',
    ref: ownName,
    attributes: { Arn: (name) => `arn:aws:events:${ENVIRONMENT}:event-bus/${name}`, Name: ownName },
  },
  'AWS::S3::Bucket': {
    nameProperty: 'BucketName',
    ref: ownName,
    attributes: { Arn: (name) => `arn:aws:s3:::${name}` },
  },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    ref: topicArn,
    attributes: { TopicArn: topicArn, TopicName: ownName },
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    ref: queueUrl,
    attributes: { Arn: (name) => `arn:aws:sqs:${ENVIRONMENT}:${name}`, QueueName: ownName, QueueUrl: queueUrl },
  },
  'AWS::SSM::Parameter': { nameProperty: 'Name', ref: ownName, attributes: {} },
};

export function arnOf(type: EmulatedType, name: string): string {
  return `arn:aws:${type.arnPrefix(ENVIRONMENT)}${name}`;
}

const SUFFIX_LENGTH = 12;

/** The properties of a stack that determine the names of its resources. */
interface NamedStack {
  /**
   * The id of the stack, unique in the app. The name of a stack is not unique: stacks of different stages, accounts or
   * regions can have the same name.
   */
  readonly id: string;
  readonly name: string;
}

/**
 * The physical name of a resource without a name in its template: `Stack-LogicalId-SUFFIX`, as in CloudFormation.
 *
 * The suffix is a digest, so that every run gives the same name. CloudFormation uses a random suffix.
 */
export function generatedName(type: EmulatedType, stack: NamedStack, logicalId: string): string {
  const suffix = createHash('sha256')
    .update(`${stack.id}/${logicalId}`)
    .digest('hex')
    .slice(0, SUFFIX_LENGTH)
    .toUpperCase();
  const room = type.longestName - SUFFIX_LENGTH - 2;
  const stackRoom = Math.max(Math.floor(room / 2), room - logicalId.length);
  const stackPart = stack.name.slice(0, stackRoom);
  return [stackPart, logicalId.slice(0, room - stackPart.length), suffix].join(type.separator ?? '-');
}
