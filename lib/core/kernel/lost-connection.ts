/**
 * The error codes of Node.js after which the AWS SDK retries. Source: the SDK's NODEJS_TIMEOUT_ERROR_CODES and
 * NODEJS_NETWORK_ERROR_CODES.
 */
const CODES: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Whether an error with this code means that a connection failed or was lost. */
export function isLostConnection(code: unknown): boolean {
  return CODES.has(code);
}
