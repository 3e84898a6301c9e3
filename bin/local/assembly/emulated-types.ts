import { createHash } from 'node:crypto';

/** The account and region in which every local resource lives. */
export const LOCAL_ACCOUNT = '000000000000';
export const LOCAL_REGION = 'us-east-1';

/** What CloudFormation knows about a resource type without asking the service. */
interface EmulatedType {
  readonly nameProperty: string;
  readonly longestName: number;
  /** The text between the parts of a generated name. @default a hyphen */
  readonly separator?: string;
  /** The part of the ARN before the name, from the service on. */
  readonly arnPrefix: (environment: string) => string;
  /** What `Fn::GetAtt` returns, by attribute. */
  readonly attributes: Readonly<Record<string, (arn: string) => string>>;
}

const ARN = { Arn: (arn: string) => arn };

/** The end of a stream's ARN. AWS has the moment there at which the stream was enabled; here it is the same in every run. */
const STREAM_LABEL = '2020-01-01T00:00:00.000';

const TABLE: EmulatedType = {
  nameProperty: 'TableName',
  longestName: 255,
  arnPrefix: (environment) => `dynamodb:${environment}:table/`,
  attributes: { ...ARN, StreamArn: (arn) => `${arn}/stream/${STREAM_LABEL}` },
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

/** The types whose names are known. Those of Amazon Keyspaces are among them, although they have no emulator. */
export const NAMED_TYPES: Readonly<Record<string, EmulatedType>> = {
  ...EMULATED_TYPES,
  'AWS::Cassandra::Keyspace': { ...CASSANDRA, nameProperty: 'KeyspaceName' },
  'AWS::Cassandra::Table': { ...CASSANDRA, nameProperty: 'TableName' },
};

export function arnOf(type: EmulatedType, name: string): string {
  return `arn:aws:${type.arnPrefix(`${LOCAL_REGION}:${LOCAL_ACCOUNT}`)}${name}`;
}

const SUFFIX_LENGTH = 12;

/** The stack of a resource, as far as the resource's name depends on it. */
interface NamedStack {
  /** Unique in the app. Two stacks of an app can have the same name if they are in different stages, accounts or regions. */
  readonly id: string;
  readonly name: string;
}

/**
 * The physical name of a resource whose template gives none: `Stack-LogicalId-SUFFIX`, as in CloudFormation.
 *
 * The suffix is a digest, while CloudFormation's is random, so that a name stays the same from run to run.
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
