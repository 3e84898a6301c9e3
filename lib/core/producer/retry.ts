/** Sources: the Kinesis API reference, PutRecords and Common Errors; the AWS SDK's own list of throttles. */
const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'KMSThrottlingException',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
]);

/** Transient errors: a later attempt can succeed, with any HTTP status. Sources: the same. */
const TRANSIENT_ERRORS = new Set([
  ...THROTTLES,
  'InternalFailure',
  'InternalServerError',
  'ServiceUnavailable',
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'RequestTimeTooSkewed',
]);

/** Whether an entry that failed with this code may succeed when sent again. */
export function isRetryableEntryError(code: string): boolean {
  return TRANSIENT_ERRORS.has(code);
}

/** Whether a request failed as a whole because the service was asked too much. */
export function isThrottle({ name = '', $metadata }: RequestError): boolean {
  return THROTTLES.has(name) || $metadata?.httpStatusCode === 429;
}

/** Whether it says that a shard, or the stream, was offered more than it takes. */
export function isShardThrottle(code: string): boolean {
  return code === 'ProvisionedThroughputExceededException';
}

/** What the SDK, or another client, says of a failed request. */
interface RequestError {
  name?: string;
  cause?: unknown;
  $retryable?: object;
  /** What the answer was, if there was one that could not be read. */
  $response?: unknown;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
}

/**
 * Whether a request that failed as a whole may succeed when sent again: everything but what never left, and what the
 * service itself refused as wrong.
 *
 * A lost connection or a time-out carries no status, an answer that broke off the status it began with.
 */
export function isRetryableRequestError(error: unknown): boolean {
  const { name = '', $retryable, $metadata }: RequestError = Object(error);
  if ($retryable !== undefined || $metadata?.clockSkewCorrected || TRANSIENT_ERRORS.has(name)) return true;
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status < 400 || status >= 500 || status === 408 || status === 429;
  return !neverLeft(error);
}

/**
 * Whether a request that failed as a whole may have been applied all the same: unless it never left, or the service
 * itself refused it.
 */
export function mayHaveBeenApplied(error: unknown): boolean {
  const { name = '', $metadata }: RequestError = Object(error);
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status < 400 || status >= 500 || status === 408;
  return !TRANSIENT_ERRORS.has(name) && !neverLeft(error);
}

/**
 * A TypeError is a mistake in the client's code, unless it wraps a network error, as fetch does, or comes of an answer
 * that the SDK could not read.
 */
function neverLeft(error: unknown): boolean {
  const { name, cause, $response }: RequestError = Object(error);
  return (
    name === 'CredentialsProviderError' || (name === 'TypeError' && cause === undefined && $response === undefined)
  );
}
