/**
 * The error codes of requests that a service throttles. Sources: the API references of Kinesis and DynamoDB ("PutRecords",
 * "Query", "Common Errors"), and the AWS SDK's own list of throttling errors.
 */
export const THROTTLE_CODES: ReadonlySet<string> = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'KMSThrottlingException',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
]);
