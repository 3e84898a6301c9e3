import type { ReadFailure } from '../foundation/fan-out/read-failure';

/**
 * Sources: the DynamoDB API reference, "Query" and "Common Errors", and the AWS SDK's own list of throttling errors.
 */
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

const TRANSIENT = new Set([
  'IncompleteAnswerError',
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

/** Node's error codes for a connection that was refused, was lost or could not be made. */
const LOST_CONNECTIONS = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND']);

/** The fields that the SDK, or another client, sets on the error of a failed request. */
interface RequestError {
  name?: string;
  code?: string;
  $retryable?: { throttling?: boolean };
  $metadata?: { httpStatusCode?: number };
}

/** What it means that a DynamoDB query failed with this error. */
export function queryFailure(error: unknown): ReadFailure {
  const { name = '', code = '', $retryable, $metadata }: RequestError = Object(error);
  const status = $metadata?.httpStatusCode ?? 0;
  if ($retryable?.throttling || THROTTLES.has(name) || status === 429) return 'throttled';
  const transient = $retryable !== undefined || TRANSIENT.has(name) || LOST_CONNECTIONS.has(code) || status >= 500;
  return transient ? 'transient' : 'final';
}
