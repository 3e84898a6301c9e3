import { EvenShardsError } from '../../lib/core/foundation/errors';
import { ProducerAbortedError } from '../../lib/core/producer/producer-errors';

/** The producer was aborted because the invocation is about to end. Nothing is wrong with the record. */
export const OUT_OF_TIME = 'OUT_OF_TIME';

/** Names why a record failed: the code of its error, which is stable. */
export function reasonOf(error: Error): string {
  if (error instanceof ProducerAbortedError) return OUT_OF_TIME;
  return error instanceof EvenShardsError ? error.code : error.name;
}

/** The records of an invocation that failed: how many for each reason, and a sample of each. */
export class FailureTally {
  readonly counts: Record<string, number> = {};
  private readonly samples: Record<string, string> = {};

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  add(error: Error): void {
    const reason = reasonOf(error);
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
    this.samples[reason] ??= error instanceof EvenShardsError ? error.summary : error.name;
  }

  /** One line for the log, if anything failed. */
  log(): void {
    if (this.total === 0) return;
    console.warn({ message: 'records failed', failed: this.total, counts: this.counts, samples: this.samples });
  }
}
