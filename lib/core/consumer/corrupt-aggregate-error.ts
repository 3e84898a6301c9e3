import { EvenShardsError } from '../foundation/errors';

/** A Kinesis record starts like an aggregate of the Kinesis Producer Library but is not a valid aggregate. */
export class CorruptAggregateError extends EvenShardsError {
  constructor(
    /** What is wrong with the record, in words. */
    readonly reason: string,
  ) {
    super('CORRUPT_AGGREGATE', `corrupt aggregate: ${reason}`);
  }
}
