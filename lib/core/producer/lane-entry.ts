import type { RecordRejectedError } from './producer-errors';
import type { PutRecordsRequestEntry } from './put-records-client';

/**
 * The records that a lane sends at a time: its first record, or several of its first records in an aggregate. They are a
 * Kinesis record of their own or, with `aggregation: 'packed'`, a part of an aggregate with entries of other lanes. An
 * entry holds the same records at each attempt.
 */
export interface LaneEntry {
  /** The Kinesis record. Undefined with `aggregation: 'packed'`: each attempt may use another aggregate. */
  readonly kinesisRecord?: PutRecordsRequestEntry;
  /** The sequence number of the first record, the same at each attempt. Undefined if there is a `kinesisRecord`. */
  readonly firstSequenceNumber?: bigint;
  /** The bytes that count against Kinesis' limits. In a shared aggregate, the bytes that the entry adds to it. */
  readonly bytes: number;
  /** The number of records. */
  readonly records: number;
  /** The position of the first record in the aggregate. Undefined if the record is sent without an aggregate. */
  position?: number;
  /** Whether the entry shares no aggregate any more. Kinesis rejected an aggregate, and another entry may be the cause. */
  mustGoAlone?: boolean;
  /** How often the entry was sent. */
  attempts: number;
  /** The error of the last attempt. */
  failure?: RecordRejectedError;
}
