/** The delays between attempts. */
export interface BackoffOptions {
  /** Upper bound of the first delay, in milliseconds; it doubles with every attempt. */
  baseMs: number;
  /** Upper bound of every delay, in milliseconds. */
  capMs: number;
  /** A source of numbers in [0, 1). */
  random: () => number;
}

/**
 * The delay before attempt `attempts + 1`: exponential with full jitter.
 * Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
 */
export function backoffMs(attempts: number, { baseMs, capMs, random }: BackoffOptions): number {
  return random() * Math.min(capMs, baseMs * 2 ** (attempts - 1));
}

/** Entry errors that pass by themselves. Source: the Kinesis API reference, PutRecordsResultEntry. */
const PASSING_ENTRY_ERRORS = new Set([
  'ProvisionedThroughputExceededException',
  'InternalFailure',
  'InternalServerError',
  'ServiceUnavailable',
  'ThrottlingException',
  'KMSThrottlingException',
]);

/** Whether an entry that failed with this code may succeed when sent again. */
export function isRetryableEntryError(code: string): boolean {
  return PASSING_ENTRY_ERRORS.has(code);
}

/**
 * Whether a request that failed as a whole may succeed when sent again: everything but what the service itself
 * refused as wrong (HTTP 4xx that is not a throttle). A lost connection or a time-out carries no status at all; the
 * request may then have been applied, so its records may appear twice.
 */
export function isRetryableRequestError(error: unknown): boolean {
  const { name, $metadata, $retryable } = error as {
    name?: string;
    $metadata?: { httpStatusCode?: number };
    $retryable?: object;
  };
  if ($retryable !== undefined || (name !== undefined && PASSING_ENTRY_ERRORS.has(name))) return true;
  const status = $metadata?.httpStatusCode;
  return status === undefined ? !UNSENDABLE.has(name ?? '') : status >= 500 || status === 429;
}

/** Client-side failures that no repetition mends: the request never left. */
const UNSENDABLE = new Set(['CredentialsProviderError', 'TypeError', 'RangeError', 'ValidationException']);
