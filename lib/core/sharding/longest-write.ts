/**
 * The longest invocation of a Lambda function, in seconds. This time is 90 minutes for asynchronous invocations and event
 * sources on Lambda Managed Instances, and 15 minutes otherwise. Source: the AWS Lambda quotas, function timeout.
 */
export const LONGEST_INVOCATION_SECONDS = 5_400;

/** The maximum is one day, because a larger number is most likely in milliseconds. */
const MAX_SECONDS = 86_400;

export const ALLOWED_WRITE_SECONDS = `a whole number of seconds from 1 to ${MAX_SECONDS}`;

/** Whether this number is allowed as the longest write of a configuration or an option. */
export function isWriteSeconds(seconds: unknown): boolean {
  return Number.isInteger(seconds) && (seconds as number) >= 1 && (seconds as number) <= MAX_SECONDS;
}
