import {
  AGGREGATE_FIELDS,
  DIGEST_BYTES,
  hasMagic,
  MAGIC,
  RECORD_FIELDS,
  TAG_FIELDS,
  writeDigest,
} from '../stream-format/aggregate-format';
import { type RecordSequence, SEQUENCE_TAG, sequenceText } from '../stream-format/record-sequence';
import { fieldBytes, integerBytes, MessageWriter, textFieldBytes } from './message-writer';

/** A record to aggregate. `checkProducerRecord` must have accepted it. */
export interface AggregatableRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  data: Uint8Array;
  sequence?: RecordSequence;
}

/** A Kinesis record: an aggregate, or a single record without an aggregate. */
export interface BuiltRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  data: Uint8Array;
}

/** One record of an aggregate, and the size of the aggregate up to this record. */
interface Part {
  readonly record: AggregatableRecord;
  readonly previous: Part | undefined;
  readonly position: number;
  readonly keyIndex: number;
  /**
   * The value of the record's sequence tag. Undefined if its sequence number directly follows the number of the previous record.
   */
  readonly sequence: string | undefined;
  /** The bytes of the record's tag, and the bytes of its whole message. */
  readonly tagBytes: number;
  readonly recordBytes: number;
  /** The bytes of the encoded message up to this record: the tables of keys, and the records. */
  readonly messageBytes: number;
  /** The size of a Kinesis record that ends with this record: data and partition key, in bytes. */
  readonly bytes: number;
}

interface AggregateBuilderOptions {
  /** The maximum size of the Kinesis record: data and partition key, in bytes. */
  maxBytes: number;
  /**
   * The partition key of an aggregate of several keys. @default undefined: the aggregate has records of one key, and is sent with
   * that partition key
   */
  groupName?: string;
}

/**
 * Aggregates records into one Kinesis record, in the format of the Kinesis Producer Library. The records are consecutive records
 * of one partition key, or runs of records of several keys. Either all records have the same explicit hash key, or no record has
 * an explicit hash key.
 *
 * The Kinesis record has the hash key of its records. So it is in the same shard as each single record would be, before and after
 * a reshard. A single record is sent without an aggregate, with three exceptions: the builder is for several keys, the record has
 * a sequence, or its data begin like an aggregate.
 *
 * The builder knows the exact size after each record. It copies the data only once, in `build`.
 */
export class AggregateBuilder {
  private readonly maxBytes: number;
  private readonly groupName: string | undefined;
  private readonly groupNameBytes: number;
  private explicitHashKey?: string;
  /** The record that was added last. A failed `tryAdd` does not change it. */
  private last?: Part;

  constructor({ maxBytes, groupName }: AggregateBuilderOptions) {
    this.maxBytes = maxBytes;
    this.groupName = groupName;
    this.groupNameBytes = groupName === undefined ? 0 : Buffer.byteLength(groupName);
  }

  get recordCount(): number {
    return this.last === undefined ? 0 : this.last.position + 1;
  }

  /** The size of the record that `build` returns: data and partition key, in bytes. */
  get byteLength(): number {
    return this.last === undefined ? 0 : this.last.bytes;
  }

  /**
   * Appends a record.
   *
   * @returns false, without a change, if the aggregate would become too large, or if the record does not match the other records.
   *   All records must have the same explicit hash key, and either all records or no record must have a sequence. Without a
   *   `groupName`, all records must have the same partition key
   */
  tryAdd(record: AggregatableRecord): boolean {
    const { last } = this;
    if (last === undefined) this.explicitHashKey = record.explicitHashKey?.toString();
    else if (!this.mayFollow(last.record, record)) return false;
    const { partitionKey, data } = record;
    const isNewKey = partitionKey !== last?.record.partitionKey;
    const keyIndex = last === undefined ? 0 : last.keyIndex + (isNewKey ? 1 : 0);
    const keyBytes = Buffer.byteLength(partitionKey);
    const sequence = sequenceValue(record.sequence, last?.record.sequence);
    const tagBytes = sequence === undefined ? 0 : fieldBytes(SEQUENCE_TAG.length) + textFieldBytes(sequence);
    const recordBytes =
      this.indexBytes(keyIndex) + fieldBytes(data.length) + (tagBytes === 0 ? 0 : fieldBytes(tagBytes));
    const messageBytes =
      (last === undefined ? this.hashKeyTableBytes : last.messageBytes) +
      (isNewKey ? fieldBytes(keyBytes) : 0) +
      fieldBytes(recordBytes);
    const isRaw = last === undefined && this.needsNoAggregate(record);
    const dataBytes = isRaw ? data.length : MAGIC.length + messageBytes + DIGEST_BYTES;
    const bytes = (this.groupNameBytes || keyBytes) + dataBytes;
    if (bytes > this.maxBytes) return false;
    const position = this.recordCount;
    this.last = {
      record,
      previous: last,
      position,
      keyIndex,
      sequence,
      tagBytes,
      recordBytes,
      messageBytes,
      bytes,
    };
    return true;
  }

  /** Appends all records, or no record if one of them cannot be added. */
  tryAddAll(records: readonly AggregatableRecord[]): boolean {
    const { last } = this;
    if (records.every((record) => this.tryAdd(record))) return true;
    this.last = last;
    return false;
  }

  /** Builds the Kinesis record. At least one record must have been added. */
  build(): BuiltRecord {
    const last = this.last!;
    const { partitionKey, explicitHashKey } = last.record;
    const isRaw = last.previous === undefined && this.needsNoAggregate(last.record);
    const data = isRaw ? last.record.data : this.encode(last);
    return { partitionKey: this.groupName ?? partitionKey, explicitHashKey, data };
  }

  private mayFollow(last: AggregatableRecord, record: AggregatableRecord): boolean {
    return (
      (this.groupName !== undefined || record.partitionKey === last.partitionKey) &&
      record.explicitHashKey === last.explicitHashKey &&
      (record.sequence === undefined) === (last.sequence === undefined)
    );
  }

  /** A consumer would decode data that begin like an aggregate, so such data need an aggregate around them. */
  private needsNoAggregate({ data, sequence }: AggregatableRecord): boolean {
    return this.groupName === undefined && sequence === undefined && !hasMagic(data);
  }

  private get hashKeyTableBytes(): number {
    return this.explicitHashKey === undefined ? 0 : textFieldBytes(this.explicitHashKey);
  }

  private indexBytes(keyIndex: number): number {
    return integerBytes(keyIndex) + (this.explicitHashKey === undefined ? 0 : integerBytes(0));
  }

  private encode(last: Part): Uint8Array {
    const { explicitHashKey } = this;
    const parts = partsUpTo(last);
    const end = MAGIC.length + last.messageBytes;
    const data = Buffer.allocUnsafe(end + DIGEST_BYTES);
    data.set(MAGIC);
    const writer = new MessageWriter(data, MAGIC.length);
    for (const { record, keyIndex, previous } of parts) {
      if (keyIndex !== previous?.keyIndex) writer.text(AGGREGATE_FIELDS.partitionKeys, record.partitionKey);
    }
    if (explicitHashKey !== undefined) writer.text(AGGREGATE_FIELDS.explicitHashKeys, explicitHashKey);
    for (const { record, keyIndex, sequence, tagBytes, recordBytes } of parts) {
      writer.begin(AGGREGATE_FIELDS.records, recordBytes);
      writer.integer(RECORD_FIELDS.partitionKeyIndex, keyIndex);
      if (explicitHashKey !== undefined) writer.integer(RECORD_FIELDS.explicitHashKeyIndex, 0);
      writer.bytes(RECORD_FIELDS.data, record.data);
      if (sequence !== undefined) {
        writer.begin(RECORD_FIELDS.tags, tagBytes);
        writer.bytes(TAG_FIELDS.key, SEQUENCE_TAG);
        writer.text(TAG_FIELDS.value, sequence);
      }
    }
    writeDigest(data, MAGIC.length, end);
    return data;
  }
}

function partsUpTo(last: Part): Part[] {
  const parts: Part[] = new Array(last.position + 1);
  for (let part: Part | undefined = last; part !== undefined; part = part.previous) parts[part.position] = part;
  return parts;
}

function sequenceValue(sequence: RecordSequence | undefined, last: RecordSequence | undefined): string | undefined {
  if (sequence === undefined) return undefined;
  const isNext = last?.producerId === sequence.producerId && last.sequenceNumber + 1n === sequence.sequenceNumber;
  return isNext ? undefined : sequenceText(sequence);
}
