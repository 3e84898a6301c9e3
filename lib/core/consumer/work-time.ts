import { setMaxListeners } from 'node:events';
import type { Clock } from '../kernel/clock';
import { deferred } from '../kernel/deferred';

/** How long work may go on. */
export interface WorkTime {
  /** Aborts when nothing new may begin. */
  readonly signal: AbortSignal;
  readonly attemptTimeoutMs: number;
  /** How long a process keeps a parked key to itself while it replays the records of the key. */
  readonly leaseMs: number;
  /** Resolves when the work must be answered, finished or not. Absent if nobody waits for an answer. */
  readonly over?: Promise<void>;
}

const DEFAULT_ATTEMPT_TIMEOUT_MS = 30_000;
const DEFAULT_LEASE_MS = 60_000;

/** The time of work that only the caller ends. */
export function openTime(
  attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS,
  signal: AbortSignal = new AbortController().signal,
): WorkTime {
  setMaxListeners(0, signal);
  return { signal, attemptTimeoutMs, leaseMs: Math.max(DEFAULT_LEASE_MS, 2 * attemptTimeoutMs) };
}

/**
 * An invocation stops handling records this long before its end, or a fifth of its time if that is less, so that it can
 * park and answer.
 */
const RESERVE_MS = 5_000;
const RESERVE_SHARE = 0.2;
/** It answers in any case this long before its end, or a fiftieth of its time if that is less. */
const LAST_ANSWER_MS = 500;
const LAST_ANSWER_SHARE = 0.02;
const ATTEMPTS_IN_TIME = 3;

/** The time of an invocation of a Lambda function, less what the invocation keeps to park and to answer. */
export async function withinInvocation<T>(
  remainingMs: number,
  { clock, attemptTimeoutMs }: { clock: Clock; attemptTimeoutMs?: number },
  work: (time: WorkTime) => Promise<T>,
): Promise<T> {
  const usableMs = remainingMs - Math.min(RESERVE_MS, remainingMs * RESERVE_SHARE);
  const lastAnswerMs = remainingMs - Math.min(LAST_ANSWER_MS, remainingMs * LAST_ANSWER_SHARE);
  const stop = new AbortController();
  // Each key that waits listens to the signal, and Node.js would warn of a leak.
  setMaxListeners(0, stop.signal);
  const over = deferred();
  const timers = [clock.schedule(() => stop.abort(), usableMs), clock.schedule(() => over.resolve(), lastAnswerMs)];
  try {
    return await work({
      signal: stop.signal,
      attemptTimeoutMs: attemptTimeoutMs ?? usableMs / ATTEMPTS_IN_TIME,
      leaseMs: remainingMs,
      over: over.promise,
    });
  } finally {
    for (const cancel of timers) cancel();
  }
}
