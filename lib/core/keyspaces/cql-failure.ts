import type { ReadFailure } from '../fan-out/shard-reader';
import { isLostConnection } from '../kernel/lost-connection';

/** Source: the CQL binary protocol, section 9, error codes. */
const OVERLOADED = 0x1001;
const WRITE_TIMEOUT = 0x1100;
const READ_TIMEOUT = 0x1200;
const SERVER_ERROR = 0x0000;
const UNAVAILABLE = 0x1000;
const IS_BOOTSTRAPPING = 0x1002;
const READ_FAILURE = 0x1300;
const WRITE_FAILURE = 0x1500;
const SYNTAX_ERROR = 0x2000;
const UNAUTHORIZED = 0x2100;
const INVALID = 0x2200;
/** The response to a conditional write that may or may not have been applied. */
const CAS_WRITE_UNKNOWN = 0x1700;

/**
 * Amazon Keyspaces returns a time-out when it throttles a partition, a table or a connection. Source: the Amazon
 * Keyspaces developer guide, "Troubleshooting capacity errors".
 */
const THROTTLES: unknown[] = [OVERLOADED, WRITE_TIMEOUT, READ_TIMEOUT];

const TRANSIENT: unknown[] = [
  SERVER_ERROR,
  UNAVAILABLE,
  IS_BOOTSTRAPPING,
  READ_FAILURE,
  WRITE_FAILURE,
  CAS_WRITE_UNKNOWN,
];

const REJECTIONS: unknown[] = [SYNTAX_ERROR, UNAUTHORIZED, INVALID];

/**
 * The errors of the driver for a connection that is too slow, too busy or lost, and the errors of this library for the
 * same cases.
 */
const TRANSIENT_NAMES = ['OperationTimedOutError', 'BusyConnectionError', 'IncompleteAnswerError', 'NoConnectionError'];

/**
 * The message of the driver's error while the pool of a host has no connection. The error has neither a name nor a
 * code. Source: HostConnectionPool.borrowConnection.
 */
export const NO_CONNECTION = 'No connection available';

interface DriverError {
  name?: string;
  message?: string;
  code?: unknown;
  isSocketError?: boolean;
  innerErrors?: object;
}

/** Classifies the error of a failed statement. The statement must be safe to send again. */
export function cqlFailure(error: unknown): ReadFailure {
  const { name = '', message, code, isSocketError, innerErrors }: DriverError = Object(error);
  if (THROTTLES.includes(code)) return 'throttled';
  if (name === 'NoHostAvailableError') return worstOf(Object.values(innerErrors ?? {}).map(cqlFailure));
  const transient =
    TRANSIENT.includes(code) ||
    TRANSIENT_NAMES.includes(name) ||
    isLostConnection(code) ||
    message === NO_CONNECTION ||
    isSocketError === true;
  return transient ? 'transient' : 'final';
}

/** Whether the database rejected the statement as invalid or as not authorized. */
export function isRejection(error: unknown): boolean {
  return REJECTIONS.includes(Object(error).code);
}

/**
 * Classifies a request that no host accepted. If some hosts failed with a transient error, another attempt may succeed.
 */
function worstOf(failures: readonly ReadFailure[]): ReadFailure {
  if (failures.includes('throttled')) return 'throttled';
  return failures.length > 0 && failures.every((failure) => failure === 'final') ? 'final' : 'transient';
}
