import {
  AGGREGATE_FIELDS,
  DIGEST_BYTES,
  hasMagic,
  MAGIC,
  RECORD_FIELDS,
  TAG_FIELDS,
  writeDigest,
} from '../foundation/aggregate-format';
import { type RecordSequence, SEQUENCE_TAG, sequenceText } from '../foundation/record-sequence';
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

/** One record of an aggregate. */
interface Part {
  readonly data: Uint8Array;
  /** The position of its partition key in the table. */
  readonly keyIndex: number;
  /** The value of its tag. A record that is next in the sequence after the one before needs none. */
  readonly sequence?: string;
}

/** How far an aggregate has come. */
interface Progress {
  readonly keyCount: number;
  readonly recordCount: number;
  readonly last?: AggregatableRecord;
  /** The bytes of the encoded message: tables and records. */
  readonly messageBytes: number;
  readonly bytes: number;
}

const NOTHING: Progress = { keyCount: 0, recordCount: 0, messageBytes: 0, bytes: 0 };

interface AggregateBuilderOptions {
  /** What a Kinesis record may count: data and partition key, in bytes. */
  maxBytes: number;
  /** The partition key of a pack. @default an aggregate of one partition key, which is sent under that key */
  packUnder?: string;
}

/**
 * Packs records into one Kinesis record, in the format of the Kinesis Producer Library: consecutive records of one
 * partition key, or, in a pack, runs of records of several. All have the same explicit hash key, or none has any.
 *
 * The Kinesis record carries that very hash key, so it lands where each of its records would, and lies in the range of
 * its shard however the stream is resharded. A single record stays as it is, unless it is packed, has a sequence to
 * carry, or begins as an aggregate does.
 *
 * Sizes are exact and counted as records are added; data are copied once, when the aggregate is built.
 */
export class AggregateBuilder {
  private readonly maxBytes: number;
  private readonly packUnder: string | undefined;
  private readonly packUnderBytes: number;
  private readonly keys: string[] = [];
  private readonly parts: Part[] = [];
  private explicitHashKey?: string;
  private progress = NOTHING;

  constructor({ maxBytes, packUnder }: AggregateBuilderOptions) {
    this.maxBytes = maxBytes;
    this.packUnder = packUnder;
    this.packUnderBytes = packUnder === undefined ? 0 : Buffer.byteLength(packUnder);
  }

  /** How many records were added. */
  get recordCount(): number {
    return this.progress.recordCount;
  }

  /** What the record that `build` returns counts: its data and partition key, in bytes. */
  get byteLength(): number {
    return this.progress.bytes;
  }

  /**
   * Adds a record behind the others.
   *
   * @returns false, and nothing has changed, if the record does not belong here: it has another explicit hash key or,
   *   unless this is a pack, another partition key, it has a sequence where the others have none or none where they have
   *   one, or the aggregate would count more than `maxBytes`
   */
  tryAdd(record: AggregatableRecord): boolean {
    const { last, keyCount } = this.progress;
    if (last !== undefined && !this.belongsBehind(last, record)) return false;
    const { explicitHashKey } = record;
    if (last === undefined) {
      this.explicitHashKey = explicitHashKey?.toString();
    }
    const { partitionKey } = record;
    const isNewKey = partitionKey !== last?.partitionKey;
    const part: Part = {
      data: record.data,
      keyIndex: isNewKey ? keyCount : keyCount - 1,
      sequence: sequenceValue(record.sequence, last?.sequence),
    };
    const messageBytes =
      (last === undefined ? this.hashKeyTableBytes : this.progress.messageBytes) +
      (isNewKey ? textFieldBytes(partitionKey) : 0) +
      fieldBytes(this.partBytes(part));
    const isRaw = last === undefined && this.needsNoAggregate(part);
    const dataBytes = isRaw ? part.data.length : MAGIC.length + messageBytes + DIGEST_BYTES;
    const keyBytes = this.packUnderBytes || Buffer.byteLength(partitionKey);
    const bytes = keyBytes + dataBytes;
    if (bytes > this.maxBytes) return false;
    if (isNewKey) this.keys.push(partitionKey);
    this.parts.push(part);
    this.progress = {
      keyCount: part.keyIndex + 1,
      recordCount: this.parts.length,
      last: record,
      messageBytes,
      bytes,
    };
    return true;
  }

  /** Adds all of the records or, if one of them does not belong here, none. */
  tryAddAll(records: readonly AggregatableRecord[]): boolean {
    const { progress } = this;
    if (records.every((record) => this.tryAdd(record))) return true;
    this.keys.length = progress.keyCount;
    this.parts.length = progress.recordCount;
    this.progress = progress;
    return false;
  }

  /** The Kinesis record. Needs at least one record. */
  build(): BuiltRecord {
    const [first] = this.parts;
    const { last } = this.progress;
    if (first === undefined || last === undefined) throw new Error('there is no record to build an aggregate of');
    const { partitionKey, explicitHashKey } = last;
    const isRaw = this.parts.length === 1 && this.needsNoAggregate(first);
    const data = isRaw ? first.data : this.encode();
    return { partitionKey: this.packUnder ?? partitionKey, explicitHashKey, data };
  }

  private belongsBehind(last: AggregatableRecord, record: AggregatableRecord): boolean {
    return (
      (this.packUnder !== undefined || record.partitionKey === last.partitionKey) &&
      record.explicitHashKey === last.explicitHashKey &&
      (record.sequence === undefined) === (last.sequence === undefined)
    );
  }

  /** Data that begin as an aggregate would be taken for one: they need an aggregate around them. */
  private needsNoAggregate({ data, sequence }: Part): boolean {
    return this.packUnder === undefined && sequence === undefined && !hasMagic(data);
  }

  private get hashKeyTableBytes(): number {
    return this.explicitHashKey === undefined ? 0 : textFieldBytes(this.explicitHashKey);
  }

  private partBytes({ data, keyIndex, sequence }: Part): number {
    const indexBytes = integerBytes(keyIndex) + (this.explicitHashKey === undefined ? 0 : integerBytes(0));
    const tagBytes = sequence === undefined ? 0 : fieldBytes(sequenceTagBytes(sequence));
    return indexBytes + fieldBytes(data.length) + tagBytes;
  }

  private encode(): Uint8Array {
    const { keys, parts, explicitHashKey } = this;
    const end = MAGIC.length + this.progress.messageBytes;
    const data = Buffer.allocUnsafe(end + DIGEST_BYTES);
    data.set(MAGIC);
    const writer = new MessageWriter(data, MAGIC.length);
    for (const key of keys) writer.text(AGGREGATE_FIELDS.partitionKeys, key);
    if (explicitHashKey !== undefined) writer.text(AGGREGATE_FIELDS.explicitHashKeys, explicitHashKey);
    for (const part of parts) {
      writer.begin(AGGREGATE_FIELDS.records, this.partBytes(part));
      writer.integer(RECORD_FIELDS.partitionKeyIndex, part.keyIndex);
      if (explicitHashKey !== undefined) writer.integer(RECORD_FIELDS.explicitHashKeyIndex, 0);
      writer.bytes(RECORD_FIELDS.data, part.data);
      if (part.sequence !== undefined) {
        writer.begin(RECORD_FIELDS.tags, sequenceTagBytes(part.sequence));
        writer.bytes(TAG_FIELDS.key, SEQUENCE_TAG);
        writer.text(TAG_FIELDS.value, part.sequence);
      }
    }
    writeDigest(data, MAGIC.length, end);
    return data;
  }
}

function sequenceValue(sequence: RecordSequence | undefined, last: RecordSequence | undefined): string | undefined {
  if (sequence === undefined) return undefined;
  const isNext = last?.producerId === sequence.producerId && last.sequenceNumber + 1n === sequence.sequenceNumber;
  return isNext ? undefined : sequenceText(sequence);
}

function sequenceTagBytes(sequence: string): number {
  return fieldBytes(SEQUENCE_TAG.length) + textFieldBytes(sequence);
}
