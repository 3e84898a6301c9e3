import { serviceError } from './service-error';

/** Source: the DynamoDB developer guide, throttling: a reason is what is throttled, by what, and why. */
export type ThrottlingReasonText = `${'Table' | 'Index'}${'Read' | 'Write'}KeyRangeThroughputExceeded`;

/** One reason of a refusal, as the service gives it. */
export interface ThrottlingReason {
  reason: ThrottlingReasonText;
  /** The ARN of the table or index. */
  resource: string;
}

export const THROTTLED = 'ProvisionedThroughputExceededException';

export function throttlingMessage({ reason, resource }: ThrottlingReason): string {
  return `Throughput exceeds the current capacity of one or more shards or partitions: ${reason} of ${resource}`;
}

/** The exception of the service, with the fields that the SDK gives it. */
export function throttled(reason: ThrottlingReason): Error {
  return Object.assign(serviceError(THROTTLED, throttlingMessage(reason)), { ThrottlingReasons: [reason] });
}
