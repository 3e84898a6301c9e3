import { EvenShardsError } from '../../lib/core/kernel/errors';

/** The registry did not return the hash key of an owner. The function has written no record of this owner. */
export class OwnerKeyError extends EvenShardsError {
  /** Whether another attempt to put the record may succeed. */
  readonly isRetryable: boolean;

  constructor(code: string, problem: string, { isRetryable, summary }: { isRetryable: boolean; summary: string }) {
    super(code, problem, { summary });
    this.isRetryable = isRetryable;
  }
}
