import type { ReadFailure } from '../foundation/fan-out/read-failure';

/** Sources: the DynamoDB API reference, Query and Common Errors; the AWS SDK's own list of throttles. */
const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
]);

const PASSING = new Set([
  'InternalServerError',
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'ExpiredTokenException',
  'RequestExpired',
]);

/** Node's codes of a connection that was refused, lost or never made. */
const LOST_CONNECTIONS = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND']);

/** What the SDK, or another client, says of a failed request. */
interface RequestError {
  name?: string;
  code?: string;
  $retryable?: { throttling?: boolean };
  $metadata?: { httpStatusCode?: number };
}

/** What a DynamoDB query that failed with this error means. */
export function queryFailure(error: unknown): ReadFailure {
  const { name = '', code = '', $retryable, $metadata }: RequestError = Object(error);
  const status = $metadata?.httpStatusCode ?? 0;
  if ($retryable?.throttling || THROTTLES.has(name) || status === 429) return 'throttled';
  const passing = $retryable !== undefined || PASSING.has(name) || LOST_CONNECTIONS.has(code) || status >= 500;
  return passing ? 'passing' : 'final';
}
