/** Elapsed time, as every engine of this library takes it. Tests and simulations bring their own. */
export interface Clock {
  /** Milliseconds since an arbitrary start. It never goes backwards, whatever happens to the time of day. */
  now(): number;
  /** Calls `callback` once after `delayMs` milliseconds, unless the returned function is called first. */
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
