import { THROTTLE_CODES } from '../aws-client/throttle-codes';

/**
 * Error codes after which a retry can succeed, with any HTTP status. Sources: the Kinesis API reference, PutRecords and Common
 * Errors.
 */
const TRANSIENT_ERRORS = new Set([
  ...THROTTLE_CODES,
  'InternalFailure',
  'InternalServerError',
  'ServiceUnavailable',
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'RequestTimeTooSkewed',
]);

/** Whether an entry with this error code may succeed at a retry. */
export function isRetryableEntryError(code: string): boolean {
  return TRANSIENT_ERRORS.has(code);
}

/**
 * The error codes of invalid input, which one record of a request can cause. Every other permanent error is about the whole
 * request, such as a missing permission, a missing stream or a disabled KMS key. Source: the Kinesis API reference, PutRecords
 * and Common Errors.
 */
const INVALID_INPUT = new Set(['InvalidArgumentException', 'ValidationException']);

/** Whether one record of a request may be the cause of an error with this code. */
export function isInvalidInput(code: string): boolean {
  return INVALID_INPUT.has(code);
}

/** Whether the service throttled a whole request. */
export function isThrottle({ name = '', $metadata }: RequestError): boolean {
  return THROTTLE_CODES.has(name) || $metadata?.httpStatusCode === 429;
}

/** Whether this code means that a shard or the stream received more than its limit. */
export function isShardThrottle(code: string): boolean {
  return code === 'ProvisionedThroughputExceededException';
}

/** The fields that the SDK, or another client, sets on the error of a failed request. */
interface RequestError {
  name?: string;
  cause?: unknown;
  $retryable?: object;
  /** The response, if the SDK could not read it. */
  $response?: unknown;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
}

/**
 * Whether a failed request may succeed at a retry. It cannot succeed if it was never sent, or if the service rejected it as
 * invalid.
 *
 * The error of a lost connection or a timeout has no status. The error of an incomplete response has the status of the response.
 */
export function isRetryableRequestError(error: unknown): boolean {
  const { name = '', $retryable, $metadata }: RequestError = Object(error);
  if ($retryable !== undefined || $metadata?.clockSkewCorrected || TRANSIENT_ERRORS.has(name)) return true;
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status < 400 || status >= 500 || status === 408 || status === 429;
  return !wasNeverSent(error);
}

/**
 * Whether the service may have applied a failed request. The service has not applied a request that was never sent, or that the
 * service throttled or rejected.
 */
export function mayHaveBeenApplied(error: unknown): boolean {
  const { name = '', $metadata }: RequestError = Object(error);
  const status = $metadata?.httpStatusCode;
  if (status !== undefined) return status < 400 || status >= 500 || status === 408;
  return !TRANSIENT_ERRORS.has(name) && !wasNeverSent(error);
}

/**
 * Whether a request failed before it was sent. A TypeError is a bug in the client's code, with two exceptions: `fetch` wraps
 * network errors in a TypeError, and the SDK throws a TypeError if it cannot read the response.
 */
function wasNeverSent(error: unknown): boolean {
  const { name, cause, $response }: RequestError = Object(error);
  return (
    name === 'CredentialsProviderError' || (name === 'TypeError' && cause === undefined && $response === undefined)
  );
}
