import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { inTime } from '../in-time';
import { boundedHandler } from '../reshard-client';

const cloudFormation = new CloudFormation({ maxAttempts: 3, requestHandler: boundedHandler() });

/** A stack that is new has a roll-back of its own: CloudFormation deletes what it has created. */
const ROLL_BACK = /^(UPDATE_)?ROLLBACK_/;

/**
 * Whether the stack is being rolled back, or the stack that it is nested in, which deletes a nested stack that is new.
 * CloudFormation does not tell a custom resource: what a roll-back creates, updates and deletes looks like any other request.
 *
 * Where CloudFormation cannot be asked, such as in a network without a way to it, the answer is no.
 */
export async function isRollingBack(stackId: string): Promise<boolean> {
  try {
    const { Stacks = [] } = await inTime((options) => cloudFormation.describeStacks({ StackName: stackId }, options));
    const { StackStatus = '', ParentId } = Stacks[0] ?? {};
    if (StackStatus === 'DELETE_IN_PROGRESS' && ParentId !== undefined) return await isRollingBack(ParentId);
    return ROLL_BACK.test(StackStatus);
  } catch (error) {
    console.warn({ stackId, unknown: 'whether the stack is being rolled back', error });
    return false;
  }
}
