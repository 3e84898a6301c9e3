/**
 * The longest invocation of a Lambda function, in seconds: 90 minutes on Lambda Managed Instances, for asynchronous invocations and
 * event sources. Elsewhere the limit is 15 minutes. Source: the AWS Lambda quotas, function timeout.
 */
export const LONGEST_INVOCATION_SECONDS = 5_400;

/** One day. A larger number is most likely a number of milliseconds. */
const MOST_SECONDS = 86_400;

export const ALLOWED_WRITE_SECONDS = `a whole number of seconds from 1 to ${MOST_SECONDS}`;

/** Whether a configuration, or a flag, can have this number as its longest write. */
export function isWriteSeconds(seconds: unknown): boolean {
  return Number.isInteger(seconds) && (seconds as number) >= 1 && (seconds as number) <= MOST_SECONDS;
}
