import { type BackoffOptions, backoffMs } from './backoff';
import type { Clock } from './clock';
import { checkGoingOn, pause } from './pause';

/** How often a call is made, and how long to wait in between. */
export interface RetryPolicy extends BackoffOptions {
  attempts: number;
  clock: Clock;
  signal?: AbortSignal;
}

/**
 * Makes a call, and makes it again while another attempt can overcome its failure. It waits with full jitter in between.
 *
 * @param call gets the number of the attempt, from 1
 * @param isFinal whether every further attempt would fail, too
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
      checkGoingOn(signal);
      if (attempt === attempts || isFinal(error)) throw error;
    }
    await pause(backoffMs(attempt, policy), clock, signal);
  }
}
