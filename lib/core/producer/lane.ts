import { Fifo } from './fifo';
import type { RecordRejectedError } from './producer-errors';
import type { ProducerRecord } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';
import type { ShardQueue } from './ready-lanes';

/** Where a record landed. */
export interface PutReceipt {
  shardId: string;
  sequenceNumber: string;
  /** Its position, from 0, in the aggregate that carried it; absent if none did. */
  subSequenceNumber?: number;
  /** How often the record was sent. */
  attempts: number;
}

/** Hears of a record's end, in the moment the producer does: exactly one of the two, once. Must not throw. */
export interface RecordEnd {
  delivered(receipt: PutReceipt): void;
  rejected(error: Error): void;
}

/** A record between `put` and its end. */
export interface PendingRecord {
  readonly record: ProducerRecord;
  readonly bytes: number;
  readonly end: RecordEnd;
  readonly putAtMs: number;
  /** Called when the record has ended. */
  flushed?: (() => void)[];
}

/** What is sent of a lane at a time: its first record, or an aggregate of its first records. */
export interface Unit {
  readonly entry: PutRecordsRequestEntry;
  /** What the entry counts against Kinesis' limits. */
  readonly bytes: number;
  /** How many records of the lane it carries. */
  readonly records: number;
  readonly isAggregate: boolean;
  attempts: number;
  /** Why the last attempt failed. */
  failure?: RecordRejectedError;
}

/** The records of one partition key, in order. Only the first unit may be under way. */
export class Lane {
  readonly pending = new Fifo<PendingRecord>();
  /** What all its records count together, in bytes. */
  bytes = 0;
  /** Once formed it stays as it is until it ends, so that every copy a lost answer leaves is the same. */
  unit?: Unit;
  /** Only a waiting or a ready lane may be ended by others than its own answer. */
  state: 'waiting' | 'ready' | 'under way' = 'waiting';
  cancelBackoff?: () => void;
  cancelExpiry?: () => void;
  /** Where it queues, and what for; kept by `ReadyLanes`. */
  place?: { queue: ShardQueue; explicitHashKey: bigint | undefined; generation: number };

  constructor(readonly partitionKey: string) {}

  /** The record whose turn it is. A lane that the producer knows has one. */
  get head(): PendingRecord {
    return this.pending.head!;
  }
}
