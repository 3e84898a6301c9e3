/**
 * Classes of errors of Postgres that come again whoever asks again: features that are not there, wrong data, broken
 * constraints, transactions of a wrong kind, logins that are refused, what dependent objects forbid, databases and schemas
 * that are not there, wrong statements, missing tables and columns, and missing permissions. Source: the manual of Postgres,
 * error codes.
 */
const LASTING_CLASSES = new Set([
  '0A',
  '0L',
  '0P',
  '22',
  '23',
  '25',
  '28',
  '2B',
  '2F',
  '38',
  '39',
  '3D',
  '3F',
  '42',
  '44',
  'P0',
]);

const READ_ONLY_TRANSACTION = '25006';
const CODE = /^[0-9A-Z]{5}$/;

/** Whether an error of Postgres comes again when another connection asks the same. A read-only server can pass. */
export function isLasting(error: unknown): boolean {
  const code = codeOf(error);
  return code !== READ_ONLY_TRANSACTION && CODE.test(code) && LASTING_CLASSES.has(code.slice(0, 2));
}

export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY_TRANSACTION;
}

function codeOf(error: unknown): string {
  return String(Object(error).code);
}
