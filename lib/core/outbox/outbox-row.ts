import type { ProducerRecord } from '../producer';
import type { RecordSequence } from '../stream-format/record-sequence';
import type { RowShape } from './envelope';
import type { ReadRow } from './progress';

/** A row of the outbox as a record for the producer. */
export interface OutboxRow extends ProducerRecord {
  readonly id: bigint;
  readonly read: ReadRow;
  readonly sequence: RecordSequence;
  /** The topic of the row, which decides the stream. */
  readonly topic?: string;
}

export interface ParkedRow extends OutboxRow {
  readonly tries: number;
}

interface FoundRow {
  id: string | number | bigint;
  partition_key: string;
  data: Uint8Array;
  explicit_hash_key: string | null;
  type: string | null;
  headers: string | null;
  topic: string | null;
  /** Null if the statement does not read the time. */
  created_at: Date | null;
}

/** @throws TypeError if the columns are not the columns of an outbox row */
export function outboxRow(found: FoundRow, producerId: string, shape: RowShape): OutboxRow {
  const { partition_key: partitionKey, data, explicit_hash_key: hashKey, type, headers, topic, created_at } = found;
  const hasTime = !shape.readsTime || created_at instanceof Date;
  const isRow = typeof partitionKey === 'string' && data instanceof Uint8Array && hasTime;
  if (!isRow) throw new TypeError('no row of an outbox');
  const id = BigInt(found.id);
  return {
    id,
    partitionKey,
    data: shape.dataOf({ id, partitionKey, data, producerId, type, headers, createdAt: created_at }),
    explicitHashKey: hashKey === null ? undefined : BigInt(hashKey),
    sequence: { producerId, sequenceNumber: id },
    read: { id, hasEnded: false },
    topic: topic ?? undefined,
  };
}
