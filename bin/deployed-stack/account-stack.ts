import type { CloudFormation } from '@aws-sdk/client-cloudformation';
import { type ReadTemplate, readTemplateText } from '../../lib/cloudformation/read-template';
import { constructPathsIn } from '../../lib/cloudformation/template';
import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import { pages } from '../../lib/core/kernel/pages';
import type { DeployedStack } from './deployed-stack';

/** The part of a client that reads a stack from CloudFormation. */
export type StackClient = Pick<CloudFormation, 'getTemplate' | 'listStackResources'>;

/** The IAM actions for reading a stack. */
export const STACK_ACTIONS = ['cloudformation:GetTemplate', 'cloudformation:ListStackResources'] as const;

/** A stack of the account, followed by its nested stacks. Empty if no stack has this name. */
export async function accountStack(client: StackClient, stackName: string): Promise<DeployedStack[]> {
  return stackOf(client, stackName, stackName);
}

async function stackOf(client: StackClient, stackName: string, id: string): Promise<DeployedStack[]> {
  const read = await templateOf(client, stackName);
  if (read === undefined) return [];
  const { template } = read;
  const physicalNames = await physicalNamesOf(client, stackName);
  const nested = Object.entries(template.Resources ?? {}).filter(
    ([, { Type }]) => Type === 'AWS::CloudFormation::Stack',
  );
  const inside = await Promise.all(
    nested.map(async ([logicalId]) => {
      const arn = physicalNames.get(logicalId);
      return arn === undefined ? [] : stackOf(client, arn, `${id}/${logicalId}`);
    }),
  );
  return [{ ...read, id, physicalNames, paths: constructPathsIn(template) }, ...inside.flat()];
}

async function templateOf(client: StackClient, stackName: string): Promise<ReadTemplate | undefined> {
  let body: string | undefined;
  try {
    ({ TemplateBody: body } = await client.getTemplate({ StackName: stackName, TemplateStage: 'Original' }));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  const read = readTemplateText(body ?? '');
  if (read === undefined) throw new IncompleteAnswerError('GetTemplate', 'a template as JSON');
  return read;
}

/** CloudFormation has no specific error for a stack that does not exist, so this function reads the message. */
function isAbsent(error: unknown): boolean {
  const { name, message = '' } = Object(error) as Partial<Error>;
  return name === 'ValidationError' && message.includes('does not exist');
}

async function physicalNamesOf(client: StackClient, stackName: string): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const read = (token: string | undefined) => client.listStackResources({ StackName: stackName, NextToken: token });
  for await (const page of pages('ListStackResources', read, ({ NextToken }) => NextToken)) {
    for (const { LogicalResourceId, PhysicalResourceId } of page.StackResourceSummaries ?? []) {
      if (LogicalResourceId && PhysicalResourceId) names.set(LogicalResourceId, PhysicalResourceId);
    }
  }
  return names;
}
