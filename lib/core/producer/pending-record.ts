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

/** A record between `put` and its end. */
export abstract class PendingRecord<R extends ProducerRecord = ProducerRecord> {
  /** What the record counts against Kinesis' limits. */
  bytes = 0;
  /** When it was put; zero if nobody asks for its age. */
  putAtMs = 0;
  /** Settled when the record has ended, and all that were put before it; undefined while nobody waits for that. */
  flushed?: { readonly promise: Promise<void>; readonly resolve: () => void };
  /** The record behind it in its lane. */
  next?: PendingRecord;

  constructor(readonly record: R) {}

  /** Hears of its end, at the moment the producer does: exactly one of the two is called, once, and it must not throw. */
  abstract delivered(receipt: PutReceipt): void;
  abstract rejected(error: Error): void;
}
