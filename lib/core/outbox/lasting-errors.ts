import { EvenShardsError } from '../kernel/errors';
import { ProducerAbortedError, ProducerClosedError } from '../producer';
import { OutboxConnectionError } from './outbox-errors';

/**
 * Classes of SQLSTATE whose errors are permanent: every connection gets them, because they depend on the statement, the schema,
 * the role or the data. Source: the manual of Postgres, appendix A, "PostgreSQL Error Codes".
 */
const PERMANENT_CLASSES = new Set([
  '09', // triggered action exception
  '0A', // feature not supported
  '0B', // invalid transaction initiation
  '0L', // invalid grantor
  '0P', // invalid role specification
  '20', // case not found
  '21', // cardinality violation
  '22', // data exception
  '23', // integrity constraint violation
  '24', // invalid cursor state
  '25', // invalid transaction state
  '26', // invalid SQL statement name: a prepared statement that is not in this session
  '27', // triggered data change violation
  '28', // invalid authorization specification
  '2B', // dependent privilege descriptors still exist
  '2D', // invalid transaction termination
  '2F', // SQL routine exception
  '34', // invalid cursor name
  '38', // external routine exception
  '39', // external routine invocation exception
  '3B', // savepoint exception
  '3D', // invalid catalog name: a database that does not exist
  '3F', // invalid schema name
  '42', // syntax error or access rule violation
  '44', // WITH CHECK OPTION violation
  '54', // program limit exceeded
  '55', // object not in prerequisite state
  'F0', // configuration file error
  'P0', // PL/pgSQL error
]);

const PERMANENT_CODES = new Set([
  '57P04', // database dropped
  '58P01', // undefined file, such as a library that the role preloads
  'XX001', // data corrupted
  'XX002', // index corrupted
]);

const READ_ONLY_TRANSACTION = '25006';

/** Errors that are transient although their class is in `PERMANENT_CLASSES`. */
const TRANSIENT_CODES = new Set([
  READ_ONLY_TRANSACTION, // a primary that has become a replica
  '25P03', // idle in transaction session timeout
  '25P04', // transaction timeout
  '55006', // object in use
  '55P03', // lock not available
]);

/** Classes of transient errors: connection, transaction rollback, resources, operator intervention, system. */
const TRANSIENT_CLASSES = new Set(['08', '40', '53', '57', '58']);

/**
 * PgBouncer uses this code for all of its own errors: for a parameter that it does not support, and also for a database server
 * that is down.
 */
const PROTOCOL_VIOLATION = '08P01';

/** The messages of PgBouncer for connections that it always rejects. Source: `disconnect_client` in pgbouncer/src. */
const PERMANENT_POOLER_ERROR =
  /^(unsupported|no such|database ".*" is disabled|SSL required|PQexec disallowed|.*login rejected$|.*authentication failed$)/;

/** The messages of `pg` for a pool that is closed, or that cannot log in to the server. These errors have no code. */
const PERMANENT_DRIVER_ERROR =
  /^(Cannot use a pool after calling end|The server does not support SSL|Password must be|SASL: .* password must be)/;

/** The codes of Node.js for a connection that it rejects: a certificate is not trusted, or an option is wrong. */
const PERMANENT_SYSTEM_ERROR =
  /CERT|^(UNABLE_TO_(GET|VERIFY)|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|ERR_INVALID_ARG|ERR_SOCKET_BAD_PORT)/;

const CODE = /^[0-9A-Z]{5}$/;

/**
 * Whether an error is permanent: another connection would get the same error for the same statement. The error of a read-only
 * server is not permanent. An unknown error is not permanent.
 */
export function isPermanent(error: unknown): boolean {
  if (error instanceof OutboxConnectionError) return isPermanent(error.cause);
  const { code, message = '' } = partsOf(error);
  if (code === undefined) return PERMANENT_DRIVER_ERROR.test(message);
  if (!CODE.test(code)) return PERMANENT_SYSTEM_ERROR.test(code);
  if (TRANSIENT_CODES.has(code)) return false;
  if (code === PROTOCOL_VIOLATION) return PERMANENT_POOLER_ERROR.test(message);
  return PERMANENT_CODES.has(code) || PERMANENT_CLASSES.has(code.slice(0, 2));
}

export function isReadOnly(error: unknown): boolean {
  return partsOf(error).code === READ_ONLY_TRANSACTION;
}

/** Whether the next run would end with the same error: a permanent error of Postgres, or an error of this library. */
export function failsEveryRun(error: unknown): boolean {
  const isTransient =
    error instanceof OutboxConnectionError ||
    error instanceof ProducerAbortedError ||
    error instanceof ProducerClosedError;
  return isPermanent(error) || (error instanceof EvenShardsError && !isTransient);
}

/** Whether an error rejects the statement itself. Use it for statements that Postgres accepts from every role. */
export function isRejection(error: unknown): boolean {
  const { code = '', severity } = partsOf(error);
  if (!CODE.test(code) || TRANSIENT_CODES.has(code) || PERMANENT_CODES.has(code)) return false;
  if (isPermanent(error)) return true;
  // A fatal error ends the session. For example, PgBouncer has lost its own connection to the server.
  return severity !== 'FATAL' && (code === PROTOCOL_VIOLATION || !TRANSIENT_CLASSES.has(code.slice(0, 2)));
}

/** The parts of an error of Postgres, of the driver or of the system. Of another error, the parts can be absent. */
function partsOf(error: unknown): { code?: string; message?: string; severity?: string } {
  return Object(error);
}
