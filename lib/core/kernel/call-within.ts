import { type Clock, systemClock } from './clock';
import { deferred } from './deferred';

/** What can end a call before its answer comes. */
export interface CallLimit {
  /** The most milliseconds that the call may take, by this clock. */
  readonly ms: number;
  readonly clock?: Clock;
  /** Shortens the time of each call to `ms`, from the moment when `signal` aborts. */
  readonly shortened?: { readonly signal: AbortSignal; readonly ms: number };
  /** Aborts the call. The client's own error then says so. */
  readonly signal?: AbortSignal;
}

/** A call had no answer in its time. It may have been applied. It has the name that the SDK's own time-outs have. */
class CallTimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/**
 * Makes a call, and gives it up when its time is over, even if its client ignores the abort.
 *
 * `AbortSignal.any` would not do: Node.js forgets a time-out that only another signal knows when it collects garbage.
 * Source: nodejs/node, issues 57736 and 65995.
 *
 * @throws CallTimeoutError if there is no answer in time; what comes later is dropped
 */
export async function callWithin<T>(
  { ms, clock = systemClock, signal, shortened }: CallLimit,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const silence = deferred<never>();
  const giveUpAfter = (limitMs: number): (() => void) =>
    clock.schedule(() => {
      const error = new CallTimeoutError(limitMs);
      // This comes before the abort, because the client's own error for the abort would not say why.
      silence.reject(error);
      controller.abort(error);
    }, limitMs);
  const shortestMs = shortened ? Math.min(ms, shortened.ms) : ms;
  let cancel = giveUpAfter(shortened?.signal.aborted ? shortestMs : ms);
  const shorten = (): void => {
    cancel();
    cancel = giveUpAfter(shortestMs);
  };
  shortened?.signal.addEventListener('abort', shorten);
  try {
    return await Promise.race([call({ abortSignal: controller.signal }), silence.promise]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', abort);
    shortened?.signal.removeEventListener('abort', shorten);
  }
}
