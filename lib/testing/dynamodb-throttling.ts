import { serviceError } from './service-error';

/** The text of a reason: the resource, the operation and the cause. Source: the DynamoDB developer guide, throttling. */
export type ThrottlingReasonText = `${'Table' | 'Index'}${'Read' | 'Write'}KeyRangeThroughputExceeded`;

/** A reason why DynamoDB throttled a request, in the format of DynamoDB. */
export interface ThrottlingReason {
  reason: ThrottlingReasonText;
  /** The ARN of the table or index. */
  resource: string;
}

export const THROTTLED = 'ProvisionedThroughputExceededException';

export function throttlingMessage({ reason, resource }: ThrottlingReason): string {
  return `Throughput exceeds the current capacity of one or more shards or partitions: ${reason} of ${resource}`;
}

/** The exception of DynamoDB, with the fields that the SDK sets. */
export function throttled(reason: ThrottlingReason): Error {
  return Object.assign(serviceError(THROTTLED, throttlingMessage(reason)), { ThrottlingReasons: [reason] });
}
