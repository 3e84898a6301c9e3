import {
  AGGREGATE_FIELDS,
  DIGEST_BYTES,
  digestOf,
  hasMagic,
  MAGIC,
  RECORD_FIELDS,
  TAG_FIELDS,
} from '../foundation/aggregate-format';
import { type RecordSequence, SEQUENCE_TAG, sequenceText } from '../foundation/record-sequence';
import { fieldBytes, MessageWriter } from './message-writer';

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

/** What the records of an aggregate have in common, and its encoded tables. */
interface Head {
  readonly record: AggregatableRecord;
  readonly partitionKey: Uint8Array;
  readonly explicitHashKey?: Uint8Array;
}

/** One record of an aggregate. */
interface Part {
  readonly data: Uint8Array;
  /** The value of its tag. A record that is next in the sequence after the one before needs none. */
  readonly sequence?: Uint8Array;
}

/**
 * Packs consecutive records of one partition key, and of one explicit hash key if they have any, into one Kinesis
 * record, in the format of the Kinesis Producer Library.
 *
 * The aggregate carries the very keys of its records, so it lands where each of them would, and lies in the range of its
 * shard however the stream is resharded. A single record stays as it is, unless it has a sequence to carry or begins as
 * an aggregate does.
 *
 * Sizes are exact and counted as records are added; data are copied once, when the aggregate is built.
 */
export class AggregateBuilder {
  private readonly maxBytes: number;
  private readonly parts: Part[] = [];
  private head?: Head;
  private lastSequence?: RecordSequence;
  /** The bytes of the encoded message: tables and records. */
  private messageBytes = 0;
  private bytes = 0;

  /** @param options.maxBytes what a Kinesis record may count: data and partition key, in bytes */
  constructor({ maxBytes }: { maxBytes: number }) {
    this.maxBytes = maxBytes;
  }

  /** How many records were added. */
  get recordCount(): number {
    return this.parts.length;
  }

  /** What the record that `build` returns counts: its data and partition key, in bytes. */
  get byteLength(): number {
    return this.bytes;
  }

  /**
   * Adds a record behind the others.
   *
   * @returns false, and nothing has changed, if the record does not belong here: it has another partition key or
   *   explicit hash key, it has a sequence where the others have none or none where they have one, or the aggregate
   *   would count more than `maxBytes`
   */
  tryAdd(record: AggregatableRecord): boolean {
    const head = this.head ?? headOf(record);
    if (!belongsTo(head.record, record)) return false;
    const part: Part = { data: record.data, sequence: this.sequenceValue(record.sequence) };
    const messageBytes = (this.messageBytes || tableBytes(head)) + fieldBytes(partBytes(part, head));
    const isRaw = this.head === undefined && needsNoAggregate(part);
    const dataBytes = isRaw ? part.data.length : MAGIC.length + messageBytes + DIGEST_BYTES;
    const bytes = head.partitionKey.length + dataBytes;
    if (bytes > this.maxBytes) return false;
    this.head = head;
    this.parts.push(part);
    this.lastSequence = record.sequence;
    this.messageBytes = messageBytes;
    this.bytes = bytes;
    return true;
  }

  /** The Kinesis record. Needs at least one record. */
  build(): BuiltRecord {
    const { head, parts } = this;
    const [first] = parts;
    if (head === undefined || first === undefined) throw new Error('there is no record to build an aggregate of');
    const { partitionKey, explicitHashKey } = head.record;
    const data = parts.length === 1 && needsNoAggregate(first) ? first.data : encode(head, parts, this.messageBytes);
    return explicitHashKey === undefined ? { partitionKey, data } : { partitionKey, explicitHashKey, data };
  }

  private sequenceValue(sequence: RecordSequence | undefined): Uint8Array | undefined {
    if (sequence === undefined) return undefined;
    const last = this.lastSequence;
    const isNext = last?.producerId === sequence.producerId && last.sequenceNumber + 1n === sequence.sequenceNumber;
    return isNext ? undefined : Buffer.from(sequenceText(sequence));
  }
}

function headOf(record: AggregatableRecord): Head {
  const { partitionKey, explicitHashKey } = record;
  return {
    record,
    partitionKey: Buffer.from(partitionKey),
    explicitHashKey: explicitHashKey === undefined ? undefined : Buffer.from(explicitHashKey.toString()),
  };
}

function belongsTo(first: AggregatableRecord, record: AggregatableRecord): boolean {
  return (
    record.partitionKey === first.partitionKey &&
    record.explicitHashKey === first.explicitHashKey &&
    (record.sequence === undefined) === (first.sequence === undefined)
  );
}

/** Data that begin as an aggregate would be taken for one: they need an aggregate around them. */
function needsNoAggregate({ data, sequence }: Part): boolean {
  return sequence === undefined && !hasMagic(data);
}

function tableBytes({ partitionKey, explicitHashKey }: Head): number {
  return fieldBytes(partitionKey.length) + (explicitHashKey === undefined ? 0 : fieldBytes(explicitHashKey.length));
}

/** An integer field of the value 0: a position in a table of one. */
const INDEX_BYTES = 2;

function partBytes({ data, sequence }: Part, { explicitHashKey }: Head): number {
  const indexBytes = explicitHashKey === undefined ? INDEX_BYTES : 2 * INDEX_BYTES;
  const tagBytes = sequence === undefined ? 0 : fieldBytes(sequenceTagBytes(sequence));
  return indexBytes + fieldBytes(data.length) + tagBytes;
}

function sequenceTagBytes(sequence: Uint8Array): number {
  return fieldBytes(SEQUENCE_TAG.length) + fieldBytes(sequence.length);
}

function encode(head: Head, parts: readonly Part[], messageBytes: number): Uint8Array {
  const end = MAGIC.length + messageBytes;
  const data = Buffer.allocUnsafe(end + DIGEST_BYTES);
  data.set(MAGIC);
  const writer = new MessageWriter(data, MAGIC.length);
  writer.bytes(AGGREGATE_FIELDS.partitionKeys, head.partitionKey);
  if (head.explicitHashKey !== undefined) writer.bytes(AGGREGATE_FIELDS.explicitHashKeys, head.explicitHashKey);
  for (const part of parts) {
    writer.begin(AGGREGATE_FIELDS.records, partBytes(part, head));
    writer.integer(RECORD_FIELDS.partitionKeyIndex, 0);
    if (head.explicitHashKey !== undefined) writer.integer(RECORD_FIELDS.explicitHashKeyIndex, 0);
    writer.bytes(RECORD_FIELDS.data, part.data);
    if (part.sequence !== undefined) {
      writer.begin(RECORD_FIELDS.tags, sequenceTagBytes(part.sequence));
      writer.bytes(TAG_FIELDS.key, SEQUENCE_TAG);
      writer.bytes(TAG_FIELDS.value, part.sequence);
    }
  }
  data.set(digestOf(data.subarray(MAGIC.length, end)), end);
  return data;
}
