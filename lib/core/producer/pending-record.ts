import type { Deferred } from '../kernel/deferred';
import type { ProducerRecord } from './producer-record';

/** Where Kinesis stored a record. */
export interface PutReceipt {
  shardId: string;
  sequenceNumber: string;
  /** The record's position, from 0, in its aggregate. Absent if the record was sent without an aggregate. */
  subSequenceNumber?: number;
  /** How many times the record was sent. */
  attempts: number;
}

/** A record that has no result yet. */
export abstract class PendingRecord<R extends ProducerRecord = ProducerRecord> {
  /** The bytes of the record that count against Kinesis' limits. */
  bytes = 0;
  /** When the record was put. Zero without `maxRecordAgeMs`. */
  putAtMs = 0;
  /** Settled when the record and all records before it have their results. Undefined if no flush waits for the record. */
  flushed?: Deferred<void>;
  next?: PendingRecord;

  constructor(readonly record: R) {}

  // The producer calls exactly one of these methods, once. They must not throw.

  abstract delivered(receipt: PutReceipt): void;
  abstract rejected(error: Error): void;
}
