import { EvenShardsError } from '../kernel/errors';

/** A Kinesis record starts like an aggregate of the Kinesis Producer Library but is not a valid aggregate. */
export class CorruptAggregateError extends EvenShardsError {
  constructor(
    /** The defect of the record. */
    readonly reason: string,
  ) {
    super('CORRUPT_AGGREGATE', `corrupt aggregate: ${reason}`);
  }
}

/** A parked record cannot be read, because another program has written or deleted items of the parking table. */
export class CorruptParkedRecordError extends EvenShardsError {
  /** @param reason the defect of the item */
  constructor(reason: string) {
    super('CORRUPT_PARKED_RECORD', `a parked record cannot be read: ${reason}`);
  }
}

/**
 * The record has already taken effect. `once.postgres` throws this error so that your transaction is rolled back. The consumer
 * counts the record as done.
 */
export class RecordDoneError extends EvenShardsError {
  constructor() {
    super('RECORD_DONE', 'not applied: this record, or a later record of its key, has already taken effect');
  }
}

/**
 * An attempt has used `once` for several transactions. If the first transaction has taken effect, the other transactions look
 * like duplicates and take no effect. So the key of the record is dead: the consumer does not replay the key until a person
 * repairs the missing effects, and then resumes the key or skips the record.
 */
export class OnceRepeatedError extends EvenShardsError {
  constructor() {
    const problem =
      'once was used for two transactions in one attempt, so the first may have taken effect without the second; put all effects of ' +
      'a record into one transaction, and let the attempt fail if the transaction fails';
    super('ONCE_REPEATED', problem);
  }
}
