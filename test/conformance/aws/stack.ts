import {
  type CloudFormation,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
} from '@aws-sdk/client-cloudformation';
import type { ShardedIndexConfig } from '../../../lib/core';
import type { SortType } from '../../support/fakes/fan-out-model';
import { keyTypes } from '../../support/plays/play-on-service';
import { tableDefinition } from '../../support/sharded-tables';

/** The resources of a comparison: tables with one index each, a table without an index, and streams. */
interface Resources {
  name: string;
  indexes: readonly { config: ShardedIndexConfig; type: SortType }[];
  tableName: string;
  streams: Readonly<Record<string, number>>;
}

const LONGEST_WAIT_SECONDS = 900;

/** The template of the stack. CloudFormation deletes all resources with the stack. */
function templateOf({ indexes, tableName, streams }: Resources): object {
  const table = (Properties: object) => ({ Type: 'AWS::DynamoDB::Table', DeletionPolicy: 'Delete', Properties });
  const tables = indexes.map(({ config, type }) => tableDefinition(config, keyTypes(config, type)));
  const written = {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  };
  const named = [...tables, written].map((properties, index) => [`Table${index}`, table(properties)] as const);
  const ofStreams = Object.entries(streams).map(([Name, ShardCount], index) => [
    `Stream${index}`,
    { Type: 'AWS::Kinesis::Stream', DeletionPolicy: 'Delete', Properties: { Name, ShardCount } },
  ]);
  return { AWSTemplateFormatVersion: '2010-09-09', Resources: Object.fromEntries([...named, ...ofStreams]) };
}

/** Creates the stack, does the work, and deletes the stack, also after an error. */
export async function inStack<T>(
  cloudFormation: CloudFormation,
  resources: Resources,
  work: () => Promise<T>,
): Promise<T> {
  const StackName = resources.name;
  const waiter = { client: cloudFormation, maxWaitTime: LONGEST_WAIT_SECONDS, minDelay: 2, maxDelay: 10 };
  await cloudFormation.createStack({ StackName, TemplateBody: JSON.stringify(templateOf(resources)) });
  try {
    await waitUntilStackCreateComplete(waiter, { StackName });
    return await work();
  } finally {
    await cloudFormation.deleteStack({ StackName });
    await waitUntilStackDeleteComplete(waiter, { StackName });
  }
}
