import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { inTime } from '../in-time';
import { boundedHandler } from '../reshard-client';

const cloudFormation = new CloudFormation({ maxAttempts: 3, requestHandler: boundedHandler() });

/** The statuses of a stack that is rolling back or has rolled back. The roll-back of a new stack has its own statuses. */
const ROLL_BACK = /^(UPDATE_)?ROLLBACK_/;

/**
 * Whether the stack is rolling back. This includes a new nested stack that is deleted because its parent stack is
 * rolling back. Requests to a custom resource are the same in a roll-back and in any other update, so this function
 * reads the status of the stack.
 *
 * Returns false if the request to CloudFormation fails, for example in a VPC without a route to CloudFormation.
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
