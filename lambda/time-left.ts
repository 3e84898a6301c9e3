import type { Context } from 'aws-lambda';

/** An invocation, which says how long it may take. */
export type TimedInvocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** How long it is until so long before the invocation's time is up, in milliseconds, at least 1. */
export function timeLeft(invocation: TimedInvocation, reservedMs: number): number {
  return Math.max(1, Math.floor(invocation.getRemainingTimeInMillis() - reservedMs));
}

/**
 * Makes a call that ends when the signal aborts, and after so long at the latest.
 *
 * `AbortSignal.any` would not do: Node.js forgets a time-out that only another signal knows when it collects garbage.
 * Source: nodejs/node, issues 57736 and 65995.
 */
export async function callWithin<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), limitMs);
  try {
    return await call({ abortSignal: controller.signal });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
