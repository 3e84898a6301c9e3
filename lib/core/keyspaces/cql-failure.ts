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
/** The answer to a condition: it is not known whether it was applied. */
const CAS_WRITE_UNKNOWN = 0x1700;

/**
 * Amazon Keyspaces answers with a time-out when a partition, a table or a connection has too much to do.
 * Source: the Amazon Keyspaces developer guide, "Troubleshooting capacity errors".
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

const REFUSALS: unknown[] = [SYNTAX_ERROR, UNAUTHORIZED, INVALID];

/**
 * The errors that the driver throws by itself when a connection is too slow, too busy, or lost, and our own errors for such
 * cases.
 */
const TRANSIENT_NAMES = ['OperationTimedOutError', 'BusyConnectionError', 'IncompleteAnswerError', 'NoConnectionError'];

/**
 * The message of the error that the driver throws, without a name or a code, while a host's pool has no connection:
 * HostConnectionPool.borrowConnection.
 */
export const NO_CONNECTION = 'No connection available';

interface DriverError {
  name?: string;
  message?: string;
  code?: unknown;
  isSocketError?: boolean;
  innerErrors?: object;
}

/** What it means that a statement failed with this error. The statement is a SELECT, or a write that may be sent again. */
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

/** Whether the database rejected the statement itself: as wrong, or because the role may not execute it. */
export function isRefusal(error: unknown): boolean {
  return REFUSALS.includes(Object(error).code);
}

/** No host accepted the request. If some hosts failed for a reason that can pass, another attempt may succeed. */
function worstOf(failures: readonly ReadFailure[]): ReadFailure {
  if (failures.includes('throttled')) return 'throttled';
  return failures.length > 0 && failures.every((failure) => failure === 'final') ? 'final' : 'transient';
}
