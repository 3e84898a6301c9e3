import { EvenShardsError } from '../kernel/errors';

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

/**
 * An attempt has used `once` for several transactions. The first one may have taken effect, and its number then hides the others. The
 * key of the record is dead until a person has repaired what is missing, and resumes the key or skips the record.
 */
export class OnceRepeatedError extends EvenShardsError {
  constructor() {
    const problem =
      'once was used for two transactions in one attempt, and the first one may have taken effect without the other: put all effects of ' +
      'a record into one transaction, and let a failed transaction fail the attempt';
    super('ONCE_REPEATED', problem);
  }
}
