import type { RecordRejectedError } from './producer-errors';
import type { PutRecordsRequestEntry } from './put-records-client';

/**
 * The records that a lane sends together: its first record, or an aggregate of its first records. An entry is a separate Kinesis
 * record or, with `aggregation: 'packed'`, a part of an aggregate with entries of other lanes. An entry contains the same records
 * at each attempt.
 */
export interface LaneEntry {
  /** The Kinesis record. Undefined with `aggregation: 'packed'`, because each attempt may use another aggregate. */
  readonly kinesisRecord?: PutRecordsRequestEntry;
  /** The sequence number of the first record, the same at each attempt. Undefined if there is a `kinesisRecord`. */
  readonly firstSequenceNumber?: bigint;
  /** The bytes that count against Kinesis' limits. In a shared aggregate, the bytes that the entry adds to the aggregate. */
  readonly bytes: number;
  readonly records: number;
  /** The position of the first record in the aggregate. Undefined if the record is sent without an aggregate. */
  position?: number;
  /** Whether the entry must not share a request: Kinesis rejected a shared request or aggregate, and another entry may be the cause. */
  mustBeSentAlone?: boolean;
  /** How many times the entry was sent. */
  attempts: number;
  failure?: RecordRejectedError;
}
