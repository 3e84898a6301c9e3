import type { DynamoDB, TableDescription } from '@aws-sdk/client-dynamodb';
import type { Kinesis, StreamDescriptionSummary } from '@aws-sdk/client-kinesis';
import { TABLE_TYPES } from '../../lib/cloudformation/template';
import type { DeployedStack } from './deployed-stack';

/** The clients that read the state of streams and tables. */
export interface StateClients {
  readonly kinesis: Pick<Kinesis, 'describeStreamSummary'>;
  readonly dynamodb: Pick<DynamoDB, 'describeTable'>;
}

/** The IAM actions for reading the state of streams and tables. */
export const STATE_ACTIONS = ['dynamodb:DescribeTable', 'kinesis:DescribeStreamSummary'] as const;

/** The state of a resource of a stack in AWS. If it has neither `stream` nor `table`, the resource does not exist. */
export interface ResourceState {
  readonly logicalId: string;
  readonly stream?: StreamDescriptionSummary | undefined;
  readonly table?: TableDescription | undefined;
}

export const STREAM_TYPE = 'AWS::Kinesis::Stream';

/** The state of each stream and each table of a stack. */
export async function resourceStates(stack: DeployedStack, clients: StateClients): Promise<ResourceState[]> {
  const states: ResourceState[] = [];
  for (const [logicalId, { Type }] of Object.entries(stack.template.Resources ?? {})) {
    const name = stack.physicalNames.get(logicalId);
    if (name === undefined) continue;
    if (Type === STREAM_TYPE) states.push({ logicalId, ...(await streamState(clients, name)) });
    if (TABLE_TYPES.includes(Type)) states.push({ logicalId, ...(await tableState(clients, name)) });
  }
  return states;
}

export async function streamState(
  { kinesis }: Pick<StateClients, 'kinesis'>,
  StreamName: string,
): Promise<{ stream?: StreamDescriptionSummary | undefined }> {
  const answer = await orAbsent(kinesis.describeStreamSummary({ StreamName }));
  return answer === undefined ? {} : { stream: answer.StreamDescriptionSummary };
}

export async function tableState(
  { dynamodb }: Pick<StateClients, 'dynamodb'>,
  TableName: string,
): Promise<{ table?: TableDescription | undefined }> {
  const answer = await orAbsent(dynamodb.describeTable({ TableName }));
  return answer === undefined ? {} : { table: answer.Table };
}

async function orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}
