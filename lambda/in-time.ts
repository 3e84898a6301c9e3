import type { Context } from 'aws-lambda';
import { callWithin } from '../lib/core/kernel/call-within';

/**
 * The time for one call, with all its attempts and to the end of the answer. Without it, a service that sends a byte now
 * and then would keep a socket busy for ever. An invocation makes a few calls one after another.
 */
const CALL_TIMEOUT_MS = 12_000;

/** Makes one of the calls of an invocation, within the time for a call or a shorter one. */
export function inTime<T>(
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
  limitMs = CALL_TIMEOUT_MS,
): Promise<T> {
  return callWithin({ ms: Math.min(limitMs, CALL_TIMEOUT_MS) }, call);
}

/** The context of an invocation, which tells how much time is left. */
export type TimedInvocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** How many milliseconds are left until `reservedMs` before the end of the invocation, at least 1. */
export function timeLeft(invocation: TimedInvocation, reservedMs: number): number {
  return Math.max(1, Math.floor(invocation.getRemainingTimeInMillis() - reservedMs));
}
