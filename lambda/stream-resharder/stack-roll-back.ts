import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { inTime } from '../in-time';
import { boundedHandler } from '../reshard-client';

const cloudFormation = new CloudFormation({ maxAttempts: 3, requestHandler: boundedHandler() });

/**
 * Whether an update of the stack is being rolled back. CloudFormation does not tell a custom resource: what a roll-back
 * creates, updates and deletes looks like any other request.
 *
 * Where CloudFormation cannot be asked, such as in a network without a way to it, the answer is no.
 */
export async function isRollingBack(stackId: string): Promise<boolean> {
  try {
    const { Stacks = [] } = await inTime((options) => cloudFormation.describeStacks({ StackName: stackId }, options));
    return Stacks[0]?.StackStatus?.startsWith('UPDATE_ROLLBACK') ?? false;
  } catch (error) {
    console.warn({ stackId, unknown: 'whether the stack is being rolled back', error });
    return false;
  }
}
