/** Source: the codes of Node.js that the SDK tries again after, NODEJS_TIMEOUT_ERROR_CODES and NODEJS_NETWORK_ERROR_CODES. */
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

/** Whether an error with this code says that a connection was refused, was lost, or could not be made. */
export function isLostConnection(code: unknown): boolean {
  return CODES.has(code);
}
