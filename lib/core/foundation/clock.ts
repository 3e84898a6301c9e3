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

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  sleep: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
};
