import type { RecordRejectedError } from '../errors';
import { Fifo } from './fifo';
import { type ProducerRecord, recordBytes } from './producer-record';
import type { PutRecordsRequestEntry } from './put-records-client';

/** Where a record landed. */
export interface PutReceipt {
  shardId: string;
  sequenceNumber: string;
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
  readonly entry: PutRecordsRequestEntry;
  readonly bytes: number;
  readonly end: RecordEnd;
  attempts: number;
  /** Why the last attempt failed. */
  failure?: RecordRejectedError;
  /** Called when the record has ended. */
  flushed?: (() => void)[];
}

/** The records of one partition key, in order. Only the first may be under way. */
export class Lane {
  readonly pending = new Fifo<PendingRecord>();
  inFlight = false;
  cancelBackoff?: () => void;

  constructor(readonly partitionKey: string) {}

  /** The record whose turn it is. A lane that the producer knows has one. */
  get head(): PendingRecord {
    return this.pending.head!;
  }
}

export function pendingRecord(record: ProducerRecord, end: RecordEnd): PendingRecord {
  const { partitionKey, data, explicitHashKey } = record;
  const entry: PutRecordsRequestEntry = { Data: data, PartitionKey: partitionKey };
  if (explicitHashKey !== undefined) entry.ExplicitHashKey = explicitHashKey.toString();
  return { entry, bytes: recordBytes(record), end, attempts: 0 };
}

/** Limits of one PutRecords request. Source: the Kinesis API reference, PutRecords. */
const MAX_REQUEST_RECORDS = 500;
const MAX_REQUEST_BYTES = 10 * 1024 * 1024;

/** Takes as many lanes out of the queue as one request can carry the first records of. */
export function takeBatch(ready: Fifo<Lane>): Lane[] {
  const batch: Lane[] = [];
  let bytes = 0;
  while (ready.length > 0 && batch.length < MAX_REQUEST_RECORDS) {
    const lane = ready.head!;
    bytes += lane.head.bytes;
    if (bytes > MAX_REQUEST_BYTES) break;
    ready.shift();
    batch.push(lane);
  }
  return batch;
}
