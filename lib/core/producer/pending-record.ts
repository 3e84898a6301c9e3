import type { ProducerRecord } from './producer-record';

/** Where a record landed. */
export interface PutReceipt {
  shardId: string;
  sequenceNumber: string;
  /** The record's position, from 0, in the aggregate that carried it; absent if the record went without one. */
  subSequenceNumber?: number;
  /** How often the record was sent. */
  attempts: number;
}

/** Hears how a record ended, at the moment the producer does: exactly one of the two is called, once. Must not throw. */
export interface RecordEnd {
  delivered(receipt: PutReceipt): void;
  rejected(error: Error): void;
}

/** A record between `put` and its end. */
export interface PendingRecord {
  readonly record: ProducerRecord;
  /** What the record counts against Kinesis' limits. */
  readonly bytes: number;
  readonly end: RecordEnd;
  readonly putAtMs: number;
  /** Settled when the record has ended, and all that were put before it; undefined while nobody waits for that. */
  flushed?: { readonly promise: Promise<void>; readonly resolve: () => void };
}
