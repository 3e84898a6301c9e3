/** Time, as the producer needs it. Tests and simulations bring their own. */
export interface Clock {
  /** Milliseconds since any start; never less than before. */
  now(): number;
  /** Calls back once after `delayMs` milliseconds, unless the returned function is called first. */
  schedule(callback: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
