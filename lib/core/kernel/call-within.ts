import { type Clock, systemClock } from './clock';
import { deferred } from './deferred';

export interface CallLimit {
  /** The timeout of the call, in milliseconds of `clock`. */
  readonly ms: number;
  readonly clock?: Clock;
  /** After this signal aborts, the call gets at most `ms` more milliseconds. */
  readonly shortened?: { readonly signal: AbortSignal; readonly ms: number };
  /** Aborts the call. When this signal aborts, the call fails with the client's own error. */
  readonly signal?: AbortSignal;
}

/**
 * A call got no response in time. The service may have executed the call anyway. The error has the name of the AWS SDK's own
 * timeout errors.
 */
class CallTimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(ms: number) {
    super(`no response within ${ms} ms`);
  }
}

/**
 * Makes a call with a timeout, even if the client ignores the abort signal.
 *
 * `AbortSignal.any` does not work here: Node.js can garbage-collect a timeout signal that only the combined signal
 * refers to. Source: nodejs/node, issues 57736 and 65995.
 *
 * @throws CallTimeoutError if there is no response in time; a later response is ignored
 */
export async function callWithin<T>(
  { ms, clock = systemClock, signal, shortened }: CallLimit,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const timeout = deferred<never>();
  const startTimeout = (limitMs: number): (() => void) =>
    clock.schedule(() => {
      const error = new CallTimeoutError(limitMs);
      // Reject before the abort: the client's own error for the abort does not name the timeout.
      timeout.reject(error);
      controller.abort(error);
    }, limitMs);
  const shortestMs = shortened ? Math.min(ms, shortened.ms) : ms;
  let cancel = startTimeout(shortened?.signal.aborted ? shortestMs : ms);
  const shorten = (): void => {
    cancel();
    cancel = startTimeout(shortestMs);
  };
  shortened?.signal.addEventListener('abort', shorten);
  try {
    return await Promise.race([call({ abortSignal: controller.signal }), timeout.promise]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', abort);
    shortened?.signal.removeEventListener('abort', shorten);
  }
}
