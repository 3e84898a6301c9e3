import { setTimeout as sleep } from 'node:timers/promises';

/** With these members, the caller of a load stops the load and sees its progress. */
export interface LoadWatch {
  /** Stops the load. The load still reads back the records that it has already put. */
  readonly signal: AbortSignal;
  /** The load calls this with the number of records or items that it has put. */
  readonly onProgress: (put: number) => void;
}

/** A load with a rate sends at most this many batches a second. */
const REQUESTS_PER_SECOND = 5;

/** Limits a load to its rate. A batch has at most as many records as the rate allows in a fifth of a second. */
export class Pace {
  private readonly startMs = performance.now();

  constructor(
    private readonly signal: AbortSignal,
    private readonly rate = Number.POSITIVE_INFINITY,
  ) {}

  /** The size of the next batch, at most `most`. */
  batchOf(most: number): number {
    return Math.max(1, Math.min(most, Math.ceil(this.rate / REQUESTS_PER_SECOND)));
  }

  /** Waits until the rate allows this number of sent records, or until the load is stopped. */
  async wait(sent: number): Promise<void> {
    const dueMs = this.startMs + (1_000 * sent) / this.rate;
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal: this.signal }).catch(() => {});
  }
}
