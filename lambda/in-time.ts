/**
 * What one call may take, with all its attempts and to the end of the answer: a service that sends a byte now and then keeps a
 * socket busy for ever. An invocation makes a few calls in a row.
 */
const CALL_TIMEOUT_MS = 12_000;

/** Ends a call in its time, with an error that says so: the SDK's own says that somebody aborted the request. */
export async function inTime<T>(
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
  limitMs = CALL_TIMEOUT_MS,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(Math.min(limitMs, CALL_TIMEOUT_MS));
  try {
    return await call({ abortSignal });
  } catch (error) {
    throw abortSignal.aborted ? new CallTimeoutError(limitMs, error) : error;
  }
}

class CallTimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(limitMs: number, cause: unknown) {
    super(`the service has not answered within ${Math.min(limitMs, CALL_TIMEOUT_MS) / 1_000} seconds`, { cause });
  }
}
