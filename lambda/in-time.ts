import type { Context } from 'aws-lambda';
import { callWithin } from '../lib/core/foundation/call-within';

/**
 * What one call may take, with all its attempts and to the end of the answer: a service that sends a byte now and then keeps a
 * socket busy for ever. An invocation makes a few calls in a row.
 */
const CALL_TIMEOUT_MS = 12_000;

/** Makes one of the calls of an invocation, in the time that a call may take, or in less. */
export function inTime<T>(
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
  limitMs = CALL_TIMEOUT_MS,
): Promise<T> {
  return callWithin({ ms: Math.min(limitMs, CALL_TIMEOUT_MS) }, call);
}

/** An invocation, which says how long it may take. */
export type TimedInvocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** How long it is until so long before the invocation's time is up, in milliseconds, at least 1. */
export function timeLeft(invocation: TimedInvocation, reservedMs: number): number {
  return Math.max(1, Math.floor(invocation.getRemainingTimeInMillis() - reservedMs));
}
