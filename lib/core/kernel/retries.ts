import { type BackoffOptions, backoffMs } from './backoff';
import type { Clock } from './clock';
import { pause, throwIfStopped } from './pause';

/** The number of attempts of a call, and the delays between them. */
export interface RetryPolicy extends BackoffOptions {
  attempts: number;
  clock: Clock;
  signal?: AbortSignal;
}

/**
 * Makes a call, and retries it after transient failures. The delays have full jitter.
 *
 * @param call gets the number of the attempt, from 1
 * @param isFinal whether a retry would fail with the same error
 * @throws Stopped if the signal is aborted; otherwise the error of the last attempt
 */
export async function withRetries<T>(
  policy: RetryPolicy,
  call: (attempt: number) => Promise<T>,
  isFinal: (error: unknown) => boolean,
): Promise<T> {
  const { attempts, clock, signal } = policy;
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      throwIfStopped(signal);
      if (attempt === attempts || isFinal(error)) throw error;
    }
    await pause(backoffMs(attempt, policy), clock, signal);
  }
}
