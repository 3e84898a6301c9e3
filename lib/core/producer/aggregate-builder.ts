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

/** A record to aggregate, as `checkProducerRecord` lets it pass. */
export interface AggregatableRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  data: Uint8Array;
  sequence?: RecordSequence;
}

/** A Kinesis record: an aggregate, or the one record that needs none. */
export interface BuiltRecord {
  partitionKey: string;
  explicitHashKey?: bigint;
  data: Uint8Array;
}

/** One record of an aggregate, and how far the aggregate has come with it. */
interface Part {
  readonly record: AggregatableRecord;
  /** The record before it. */
  readonly previous: Part | undefined;
  readonly position: number;
  /** The position of its partition key in the table. */
  readonly keyIndex: number;
  /** The value of its tag. A record that is next in the sequence after the one before needs none. */
  readonly sequence: string | undefined;
  /** The bytes of its tag, and of its whole message. */
  readonly tagBytes: number;
  readonly recordBytes: number;
  /** The bytes of the encoded message up to it: tables and records. */
  readonly messageBytes: number;
  /** What the Kinesis record counts that ends with it: data and partition key. */
  readonly bytes: number;
}

interface AggregateBuilderOptions {
  /** What a Kinesis record may count: data and partition key, in bytes. */
  maxBytes: number;
  /** The partition key of an aggregate of several keys. @default an aggregate of one key, which is sent under that key */
  groupName?: string;
}

/**
 * Aggregates records into one Kinesis record, in the format of the Kinesis Producer Library: consecutive records of one
 * partition key, or runs of records of several keys. All have the same explicit hash key, or none has an explicit hash key.
 *
 * The Kinesis record has the hash key of its records. So it is in the shard in which each of them would be, before and after a
 * reshard. A single record stays as it is, unless the aggregate is for several keys, or the record has a sequence or begins as an
 * aggregate does.
 *
 * Sizes are exact and counted as records are added; data are copied once, when the aggregate is built.
 */
export class AggregateBuilder {
  private readonly maxBytes: number;
  private readonly groupName: string | undefined;
  private readonly groupNameBytes: number;
  private explicitHashKey?: string;
  /** The record that was added last. An attempt that fails leaves it as it is. */
  private last?: Part;

  constructor({ maxBytes, groupName }: AggregateBuilderOptions) {
    this.maxBytes = maxBytes;
    this.groupName = groupName;
    this.groupNameBytes = groupName === undefined ? 0 : Buffer.byteLength(groupName);
  }

  /** How many records were added. */
  get recordCount(): number {
    return this.last === undefined ? 0 : this.last.position + 1;
  }

  /** What the record that `build` returns counts: its data and partition key, in bytes. */
  get byteLength(): number {
    return this.last === undefined ? 0 : this.last.bytes;
  }

  /**
   * Adds a record behind the others.
   *
   * @returns false, and nothing has changed, if the record does not belong here: it has another explicit hash key or,
   *   without a `groupName`, another partition key, it has a sequence where the others have none or none where they have
   *   one, or the aggregate would count more than `maxBytes`
   */
  tryAdd(record: AggregatableRecord): boolean {
    const { last } = this;
    if (last === undefined) this.explicitHashKey = record.explicitHashKey?.toString();
    else if (!this.belongsBehind(last.record, record)) return false;
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

  /** Adds all of the records or, if one of them does not belong here, none. */
  tryAddAll(records: readonly AggregatableRecord[]): boolean {
    const { last } = this;
    if (records.every((record) => this.tryAdd(record))) return true;
    this.last = last;
    return false;
  }

  /** The Kinesis record. The builder needs at least one record for it. */
  build(): BuiltRecord {
    const last = this.last!;
    const { partitionKey, explicitHashKey } = last.record;
    const isRaw = last.previous === undefined && this.needsNoAggregate(last.record);
    const data = isRaw ? last.record.data : this.encode(last);
    return { partitionKey: this.groupName ?? partitionKey, explicitHashKey, data };
  }

  private belongsBehind(last: AggregatableRecord, record: AggregatableRecord): boolean {
    return (
      (this.groupName !== undefined || record.partitionKey === last.partitionKey) &&
      record.explicitHashKey === last.explicitHashKey &&
      (record.sequence === undefined) === (last.sequence === undefined)
    );
  }

  /** Data that begin as an aggregate would be taken for one: they need an aggregate around them. */
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

/** The parts of an aggregate. The first one comes first. */
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
