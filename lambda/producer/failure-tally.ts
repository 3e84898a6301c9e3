import { EvenShardsError } from '../../lib/core/kernel/errors';
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
  /** By reason. A service names its errors, and an object has some names by itself. */
  private readonly failures = new Map<string, { count: number; sample: string }>();

  get counts(): Record<string, number> {
    return this.eachReason(({ count }) => count);
  }

  get total(): number {
    return [...this.failures.values()].reduce((sum, { count }) => sum + count, 0);
  }

  add(error: Error): void {
    const reason = reasonOf(error);
    const sample = error instanceof EvenShardsError ? error.summary : error.name;
    const failure = this.failures.get(reason) ?? { count: 0, sample };
    failure.count += 1;
    this.failures.set(reason, failure);
  }

  /** One line for the log, if anything failed. */
  log(): void {
    if (this.total === 0) return;
    const samples = this.eachReason(({ sample }) => sample);
    console.warn({ message: 'records failed', failed: this.total, counts: this.counts, samples });
  }

  private eachReason<V>(of: (failure: { count: number; sample: string }) => V): Record<string, V> {
    return Object.fromEntries([...this.failures].map(([reason, failure]) => [reason, of(failure)]));
  }
}
