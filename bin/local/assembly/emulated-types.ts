import { createHash } from 'node:crypto';

/** The account and region in which every local resource lives. */
export const LOCAL_ACCOUNT = '000000000000';
export const LOCAL_REGION = 'us-east-1';

/** How CloudFormation derives the name, `Ref` and the attributes of a resource without a request to the service. */
interface NamedType {
  readonly nameProperty: string;
  /** The longest name. Absent if a name is known only from the template, because the type is not emulated. */
  readonly longestName?: number;
  /** The text between the parts of a generated name. @default a hyphen */
  readonly separator?: string;
  /** The result of `Ref` for a name. @default the name */
  readonly ref?: (name: string) => string;
  /** The result of `Fn::GetAtt` for a name, by attribute. */
  readonly attributes: Readonly<Record<string, (name: string) => string>>;
}

/**
 * The label at the end of the ARN of a table's stream. In AWS the label is the time at which the stream was turned on.
 * In a local run, the first stream of a table always has the same label, because the plan contains the ARN before the
 * table exists. `earlier` is the number of earlier streams of a table with this name.
 */
export function streamLabel(earlier: number): string {
  return new Date(Date.UTC(2020, 0, 1) + earlier).toISOString().slice(0, -1);
}

const ENVIRONMENT = `${LOCAL_REGION}:${LOCAL_ACCOUNT}`;
const arn = (prefix: string) => (name: string) => `arn:aws:${prefix.replace('::', `:${ENVIRONMENT}:`)}${name}`;
const tableArn = arn('dynamodb::table/');
const topicArn = arn('sns::');
const queueUrl = (name: string) => `https://sqs.${LOCAL_REGION}.amazonaws.com/${LOCAL_ACCOUNT}/${name}`;

const TABLE: NamedType = {
  nameProperty: 'TableName',
  longestName: 255,
  attributes: { Arn: tableArn, StreamArn: (name) => `${tableArn(name)}/stream/${streamLabel(0)}` },
};

const CASSANDRA = { longestName: 48, separator: '_', attributes: {} };

/**
 * The resource types whose names a local run knows. A local run emulates some of them. It also knows the names of keyspaces, and
 * of resources that functions often receive by name, URL or ARN.
 */
export const NAMED_TYPES: Readonly<Record<string, NamedType>> = {
  'AWS::Cassandra::Keyspace': { ...CASSANDRA, nameProperty: 'KeyspaceName' },
  'AWS::Cassandra::Table': { ...CASSANDRA, nameProperty: 'TableName' },
  'AWS::DynamoDB::GlobalTable': TABLE,
  'AWS::DynamoDB::Table': TABLE,
  'AWS::Events::EventBus': { nameProperty: 'Name', attributes: { Arn: arn('events::event-bus/'), Name: String } },
  'AWS::Kinesis::Stream': { nameProperty: 'Name', longestName: 128, attributes: { Arn: arn('kinesis::stream/') } },
  'AWS::Lambda::Function': {
    nameProperty: 'FunctionName',
    longestName: 64,
    attributes: { Arn: arn('lambda::function:') },
  },
  'AWS::S3::Bucket': { nameProperty: 'BucketName', attributes: { Arn: (name) => `arn:aws:s3:::${name}` } },
  'AWS::SNS::Topic': {
    nameProperty: 'TopicName',
    ref: topicArn,
    attributes: { TopicArn: topicArn, TopicName: String },
  },
  'AWS::SQS::Queue': {
    nameProperty: 'QueueName',
    ref: queueUrl,
    attributes: { Arn: arn('sqs::'), QueueName: String, QueueUrl: queueUrl },
  },
  'AWS::SSM::Parameter': { nameProperty: 'Name', attributes: {} },
};

/** The ARN of a resource of an emulated type. */
export function arnOf(type: string, name: string): string {
  return NAMED_TYPES[type]!.attributes.Arn!(name);
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
export function generatedName(
  { longestName = 0, separator = '-' }: NamedType,
  stack: NamedStack,
  logicalId: string,
): string {
  const suffix = createHash('sha256')
    .update(`${stack.id}/${logicalId}`)
    .digest('hex')
    .slice(0, SUFFIX_LENGTH)
    .toUpperCase();
  const room = longestName - SUFFIX_LENGTH - 2;
  const stackRoom = Math.max(Math.floor(room / 2), room - logicalId.length);
  const stackPart = stack.name.slice(0, stackRoom);
  return [stackPart, logicalId.slice(0, room - stackPart.length), suffix].join(separator);
}
