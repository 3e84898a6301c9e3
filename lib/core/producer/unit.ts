import type { RecordRejectedError } from './producer-errors';
import type { PutRecordsRequestEntry } from './put-records-client';

/** What a lane sends at a time, one Kinesis record: the lane's first record, or an aggregate of its first records. */
export interface Unit {
  readonly entry: PutRecordsRequestEntry;
  /** What the entry counts against Kinesis' limits. */
  readonly bytes: number;
  /** How many records of the lane the unit carries. */
  readonly records: number;
  readonly isAggregate: boolean;
  /** How often the unit was sent. */
  attempts: number;
  /** Why the last attempt failed. */
  failure?: RecordRejectedError;
}
