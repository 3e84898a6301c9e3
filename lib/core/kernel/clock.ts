/**
 * A source of elapsed time. Every engine of this library reads the time from a clock, waits by it and sets its timers
 * with it. Pass one of your own in tests and simulations, such as `VirtualClock` of `cdk-even-shards/testing`.
 */
export interface Clock {
  /** Milliseconds since an arbitrary start. It never goes backwards, even if someone sets the time of day. */
  now(): number;
  /** Calls `callback` once after `delayMs` milliseconds, unless you call the returned function first. */
  schedule(callback: () => void, delayMs: number): () => void;
  /** Resolves after `delayMs` milliseconds. */
  sleep(delayMs: number): Promise<void>;
}

/** The longest delay of a timer of Node.js, in milliseconds: a timer with a longer delay fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The shortest delay of a timer that waits for a point in time, in milliseconds. Timers fire a little early, and rounding errors
 * would re-arm the timer in a loop.
 */
export const SHORTEST_TIMER_MS = 1;

/** The clock of the system. A delay may be longer than the longest timer, which is 25 days. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(callback, delayMs) {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      timer =
        leftMs > LONGEST_TIMER_MS
          ? setTimeout(() => wait(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(callback, leftMs);
    };
    wait(delayMs);
    return () => clearTimeout(timer);
  },
  sleep: (delayMs) =>
    new Promise((resolve) => {
      systemClock.schedule(resolve, delayMs);
    }),
};
