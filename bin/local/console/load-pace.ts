import { setTimeout as sleep } from 'node:timers/promises';

/** Who watches a load. */
export interface LoadWatch {
  /** Stops the load. What was put is still read back. */
  readonly signal: AbortSignal;
  /** Is told how many records or items have been put. */
  readonly onProgress: (put: number) => void;
}

/** A load with a rate is put in this many requests a second. */
const REQUESTS_PER_SECOND = 5;

/** Keeps a load to its rate, by a fifth of a second's records at a time. */
export class Pace {
  private readonly startMs = performance.now();

  constructor(
    private readonly signal: AbortSignal,
    private readonly rate = Number.POSITIVE_INFINITY,
  ) {}

  /** How many records go at once, if there is room for this many. */
  batchOf(most: number): number {
    return Math.max(1, Math.min(most, Math.ceil(this.rate / REQUESTS_PER_SECOND)));
  }

  /** Waits until this many may have been sent, or until the load is stopped. */
  async wait(sent: number): Promise<void> {
    const dueMs = this.startMs + (1_000 * sent) / this.rate;
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: this.signal }).catch(() => {});
  }
}
