import type { Context } from 'aws-lambda';

/** An invocation, which says how long it may take. */
export type TimedInvocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** How long it is until so long before the invocation's time is up, in milliseconds, at least 1. */
export function timeLeft(invocation: TimedInvocation, reservedMs: number): number {
  return Math.max(1, Math.floor(invocation.getRemainingTimeInMillis() - reservedMs));
}
