import { THROTTLE_CODES } from '../../aws-client/throttle-codes';
import type { ReadFailure } from '../../fan-out/shard-reader';
import { isLostConnection } from '../../kernel/lost-connection';

/**
 * Sources: the DynamoDB API reference, "Query", "UpdateItem" and "Common Errors", and the error codes of
 * @amazon-dax-sdk/client-dax.
 */
const TRANSIENT = new Set([
  'IncompleteAnswerError',
  'InternalServerError',
  'InternalFailure',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  // A transaction of another client contains the item. No AWS SDK retries this error.
  'TransactionConflictException',
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'ExpiredTokenException',
  'RequestExpired',
  'InternalServerErrorException',
  'ConnectionException',
  'NoRouteException',
  'EndOfStreamException',
  'DecoderException',
  'MalformedResultException',
]);

/** The fields that the SDK, or another client, sets on the error of a failed request. */
interface RequestError {
  name?: string;
  /**
   * The error code. Errors of Node.js have this field. Errors of a DAX client also have this field, because they have no
   * specific name.
   */
  code?: string;
  /** The status code. Errors of a DAX client have this field if DAX has responded. */
  statusCode?: number;
  $retryable?: { throttling?: boolean };
  $metadata?: { httpStatusCode?: number };
}

/** Classifies the error of a failed DynamoDB query. */
export function queryFailure(error: unknown): ReadFailure {
  const { name = '', code = '', statusCode, $retryable, $metadata }: RequestError = Object(error);
  const status = Number($metadata?.httpStatusCode ?? statusCode);
  const isOneOf = (known: ReadonlySet<string>): boolean => known.has(name) || known.has(code);
  if ($retryable?.throttling || isOneOf(THROTTLE_CODES) || status === 429) return 'throttled';
  const transient = $retryable !== undefined || isOneOf(TRANSIENT) || isLostConnection(code) || status >= 500;
  return transient ? 'transient' : 'final';
}
