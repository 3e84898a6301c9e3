/**
 * A source of elapsed time. The functions and classes of this library read the time and set timers through a clock. Pass your own
 * clock in tests and simulations, such as `VirtualClock` of `cdk-even-shards/testing`.
 */
export interface Clock {
  /** The milliseconds since an arbitrary start. The result never decreases, even if the system time is set back. */
  now(): number;
  /** Calls `callback` once after `delayMs` milliseconds, unless you call the returned function first. */
  schedule(callback: () => void, delayMs: number): () => void;
  /** Resolves after `delayMs` milliseconds. */
  sleep(delayMs: number): Promise<void>;
}

/** The longest delay of a timer of Node.js, in milliseconds: a timer with a longer delay fires immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The shortest delay of a timer that waits for a point in time, in milliseconds. A timer can fire a little early. Without this
 * minimum, the program would then set timers for tiny remaining delays in a loop.
 */
export const SHORTEST_TIMER_MS = 1;

/** The system clock. A delay may be longer than the longest timer of Node.js, which is about 25 days. */
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
