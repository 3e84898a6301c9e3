import { setTimeout as sleep } from 'node:timers/promises';

/** Who watches a load. */
export interface LoadWatch {
  /** Stops it. What has been put is still read. */
  readonly signal: AbortSignal;
  /** Is told how many have been put. */
  readonly onProgress: (put: number) => void;
}

/** A load with a rate is put in so many requests a second. */
const REQUESTS_PER_SECOND = 5;

/** Lets no more through than a rate: a fifth of a second's records at a time. */
export class Pace {
  private readonly startMs = performance.now();

  constructor(
    private readonly signal: AbortSignal,
    private readonly rate = Number.POSITIVE_INFINITY,
  ) {}

  /** How many go at once, of as many as there is room for. */
  batchOf(most: number): number {
    return Math.max(1, Math.min(most, Math.ceil(this.rate / REQUESTS_PER_SECOND)));
  }

  /** Waits until so many may have been sent, or until the load is stopped. */
  async wait(sent: number): Promise<void> {
    const dueMs = this.startMs + (1_000 * sent) / this.rate;
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: this.signal }).catch(() => {});
  }
}
