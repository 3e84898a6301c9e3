import { EvenShardsError } from '../../lib/core/kernel/errors';
import { ProducerAbortedError } from '../../lib/core/producer/producer-errors';

/** The reason for records that were not sent because the invocation was about to end. These records are valid. */
export const OUT_OF_TIME = 'OUT_OF_TIME';

/** The reason why a record failed: the stable code of its error. */
export function reasonOf(error: Error): string {
  if (error instanceof ProducerAbortedError) return OUT_OF_TIME;
  return error instanceof EvenShardsError ? error.code : error.name;
}

/** Counts the failed records of an invocation by reason, with a sample message for each reason. */
export class FailureTally {
  /**
   * The failures by reason. This is a `Map`, because the reason can be any error name, even the name of an inherited
   * property such as `constructor`.
   */
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

  /** Logs one line if any record failed. */
  log(): void {
    if (this.total === 0) return;
    const samples = this.eachReason(({ sample }) => sample);
    console.warn({ message: 'records failed', failed: this.total, counts: this.counts, samples });
  }

  private eachReason<V>(of: (failure: { count: number; sample: string }) => V): Record<string, V> {
    return Object.fromEntries([...this.failures].map(([reason, failure]) => [reason, of(failure)]));
  }
}
