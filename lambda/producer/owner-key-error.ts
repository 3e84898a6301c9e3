import { EvenShardsError } from '../../lib/core/kernel/errors';

/** The registry did not return the hash key of an owner. Nothing of the owner's records was written. */
export class OwnerKeyError extends EvenShardsError {
  /** Whether the same record may succeed if it is put again. */
  readonly isRetryable: boolean;

  constructor(code: string, problem: string, { isRetryable, summary }: { isRetryable: boolean; summary: string }) {
    super(code, problem, { summary });
    this.isRetryable = isRetryable;
  }
}
