import type { Context } from 'aws-lambda';
import { callWithin } from '../lib/core/kernel/call-within';

/**
 * The timeout of a call, including all attempts and the whole response. Without this timeout, a service that sends only
 * a byte from time to time would block a call forever.
 */
const CALL_TIMEOUT_MS = 12_000;

/** Makes a call with the default timeout, or with a shorter timeout. */
export function inTime<T>(
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
  limitMs = CALL_TIMEOUT_MS,
): Promise<T> {
  return callWithin({ ms: Math.min(limitMs, CALL_TIMEOUT_MS) }, call);
}

/** The part of an invocation's context that returns the remaining time. */
export type TimedInvocation = Pick<Context, 'getRemainingTimeInMillis'>;

/** The remaining time of an invocation minus `reservedMs`, in milliseconds, at least 1. */
export function timeLeft(invocation: TimedInvocation, reservedMs: number): number {
  return Math.max(1, Math.floor(invocation.getRemainingTimeInMillis() - reservedMs));
}
