import { setMaxListeners } from 'node:events';
import type { Clock } from '../kernel/clock';

/** The time limits of a batch or a replay. */
export interface WorkTime {
  /** Aborts when no new attempt may begin. */
  readonly signal: AbortSignal;
  readonly attemptTimeoutMs: number;
  /**
   * An attempt that the end of the invocation stops has failed if it ran for at least this time, in milliseconds. Otherwise, a
   * record that needs more time than an invocation has would be delivered again forever. Absent outside Lambda.
   */
  readonly longAttemptMs?: number;
  /**
   * How long a lease lasts, in milliseconds. While a process has the lease of a parked key, only this process replays the key.
   */
  readonly leaseMs: number;
  /**
   * How long handlers that ignore their signals can still run, in milliseconds. Lambda freezes the process at the end of the
   * invocation. Outside Lambda there is no limit, and the result is the length of a lease.
   */
  handlersRunForMs(): number;
  /**
   * Aborts when the invocation must return its response, even if the work is not finished. From then on, the batch begins no
   * write, because Lambda may already deliver its records again. Absent outside Lambda.
   */
  readonly over?: AbortSignal;
}

const DEFAULT_ATTEMPT_TIMEOUT_MS = 30_000;
const DEFAULT_LEASE_MS = 60_000;

/** The time limits of a batch or a replay outside Lambda. Only the caller's signal stops it. */
export function openTime(
  attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS,
  signal: AbortSignal = new AbortController().signal,
): WorkTime {
  setMaxListeners(0, signal);
  const leaseMs = Math.max(DEFAULT_LEASE_MS, 2 * attemptTimeoutMs);
  return { signal, attemptTimeoutMs, leaseMs, handlersRunForMs: () => leaseMs };
}

/**
 * An invocation stops handling records this long before its timeout. If a fifth of its remaining time is shorter, the invocation
 * stops only that long before its timeout. So it has time to park keys and to return its response.
 */
const RESERVE_MS = 5_000;
const RESERVE_SHARE = 0.2;
/**
 * An invocation always returns its response this long before its timeout. If a fiftieth of its remaining time is shorter, the
 * invocation returns the response only that long before its timeout.
 */
const LAST_RESPONSE_MS = 500;
const LAST_RESPONSE_SHARE = 0.02;
const ATTEMPTS_IN_TIME = 3;
const LONG_ATTEMPT_SHARE = 0.5;

/** Runs work within the time of a Lambda invocation. The work ends early enough for parking and for the response. */
export async function withinInvocation<T>(
  remainingMs: number,
  { clock, attemptTimeoutMs }: { clock: Clock; attemptTimeoutMs?: number },
  work: (time: WorkTime) => Promise<T>,
): Promise<T> {
  const usableMs = remainingMs - Math.min(RESERVE_MS, remainingMs * RESERVE_SHARE);
  const lastResponseMs = remainingMs - Math.min(LAST_RESPONSE_MS, remainingMs * LAST_RESPONSE_SHARE);
  const startedAt = clock.now();
  const stop = new AbortController();
  // Each waiting key adds a listener, and Node.js would otherwise warn about a leak.
  setMaxListeners(0, stop.signal);
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const timers = [clock.schedule(() => stop.abort(), usableMs), clock.schedule(() => over.abort(), lastResponseMs)];
  try {
    return await work({
      signal: stop.signal,
      attemptTimeoutMs: attemptTimeoutMs ?? usableMs / ATTEMPTS_IN_TIME,
      longAttemptMs: usableMs * LONG_ATTEMPT_SHARE,
      leaseMs: remainingMs,
      handlersRunForMs: () => startedAt + remainingMs - clock.now(),
      over: over.signal,
    });
  } finally {
    for (const cancel of timers) cancel();
  }
}
