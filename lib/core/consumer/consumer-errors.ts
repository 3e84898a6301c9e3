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

/** A parking table holds something unreadable for a key: somebody else has written it, or has deleted a part of it. */
export class CorruptParkedRecordError extends EvenShardsError {
  /** @param reason what is wrong, in words */
  constructor(reason: string) {
    super('CORRUPT_PARKED_RECORD', `a parked record cannot be read: ${reason}`);
  }
}

/**
 * The record has taken effect before. `once.postgres` throws it so that your transaction is rolled back. The consumer
 * counts the record as done.
 */
export class RecordDoneError extends EvenShardsError {
  constructor() {
    super('RECORD_DONE', 'not applied: this record, or a later one of its key, has taken effect before');
  }
}
