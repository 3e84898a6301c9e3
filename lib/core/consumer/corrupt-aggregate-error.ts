import { EvenShardsError } from '../foundation/errors';

/** A record of a stream that begins as an aggregate of the Kinesis Producer Library does, and is none. */
export class CorruptAggregateError extends EvenShardsError {
  constructor(
    /** What is wrong with it, in words. */
    readonly reason: string,
  ) {
    super('CORRUPT_AGGREGATE', `corrupt aggregated record: ${reason}`);
  }
}
