import {
  AGGREGATE_FIELDS,
  DIGEST_BYTES,
  digestOf,
  hasMagic,
  MAGIC,
  RECORD_FIELDS,
  TAG_FIELDS,
} from '../foundation/aggregate-format';
import { InvalidArgumentError } from '../foundation/errors';
import { checkHashKey, parseHashKey } from '../foundation/hash-key-space';
import { nextSequence, parseSequenceText, type RecordSequence, SEQUENCE_TAG } from '../foundation/record-sequence';
import { CorruptAggregateError } from './corrupt-aggregate-error';
import { MessageReader } from './message-reader';

/** A record as it was put, alone or as one of an aggregate. */
export interface UserRecord {
  partitionKey: string;
  /** The explicit hash key it was put with. Kinesis does not tell that of a record that stands alone. */
  explicitHashKey?: bigint;
  data: Uint8Array;
  /** Its position in the aggregate, from 0; 0 for a record that stands alone. */
  subSequenceNumber: number;
  /** Where it stands among the records of its partition key, if its producer counts them. */
  sequence?: RecordSequence;
}

/** A record of a stream. */
export interface StreamRecord {
  partitionKey: string;
  data: Uint8Array;
  /** The explicit hash key it was put with, where that is known; in decimal if it is text. */
  explicitHashKey?: string | bigint;
}

/**
 * The user records in a record of a stream, in the order they were put: those of an aggregate of the Kinesis Producer
 * Library, or else the record itself.
 *
 * Their data are views of the record's data, not copies.
 *
 * @throws CorruptAggregateError if the record begins as an aggregate does, and is none: its MD5 does not match, or what
 *   it holds is not what the format says. A producer that aggregates never writes such a record. A raw record of
 *   arbitrary bytes begins so by chance, once in 2^32; the Kinesis Client Library takes each such record as it is
 * @throws InvalidArgumentError if it is no record, such as one whose data is still in base64
 */
export function deaggregate(record: StreamRecord): UserRecord[] {
  if (!(record?.data instanceof Uint8Array)) throw new InvalidArgumentError('data', record?.data, 'a Uint8Array');
  return hasMagic(record.data) ? userRecords(readAggregate(verifiedMessage(record.data))) : [rawRecord(record)];
}

function rawRecord({ partitionKey, data, explicitHashKey }: StreamRecord): UserRecord {
  if (explicitHashKey === undefined) return { partitionKey, data, subSequenceNumber: 0 };
  const hashKey = typeof explicitHashKey === 'string' ? parseHashKey(explicitHashKey) : explicitHashKey;
  // Text that names no hash key is itself what the error shows.
  checkHashKey('explicitHashKey', hashKey ?? explicitHashKey);
  return { partitionKey, explicitHashKey: hashKey, data, subSequenceNumber: 0 };
}

/** The message between the magic and its MD5. */
function verifiedMessage(data: Uint8Array): Uint8Array {
  const end = data.length - DIGEST_BYTES;
  if (end < MAGIC.length) throw new CorruptAggregateError('it ends before its MD5');
  const message = data.subarray(MAGIC.length, end);
  if (!digestOf(message).equals(data.subarray(end))) throw new CorruptAggregateError('its MD5 does not match');
  return message;
}

/** An aggregate as its message has it: records that name their keys by their positions in tables. */
interface Aggregate {
  partitionKeys: string[];
  explicitHashKeys: bigint[];
  records: AggregatedRecord[];
}

interface AggregatedRecord {
  partitionKeyIndex: number;
  explicitHashKeyIndex?: number;
  data: Uint8Array;
  sequence?: RecordSequence;
}

/** Looks the keys up, which may stand behind the records, and counts on from the sequence before. */
function userRecords({ partitionKeys, explicitHashKeys, records }: Aggregate): UserRecord[] {
  if (records.length === 0) throw new CorruptAggregateError('it holds no record');
  let sequence: RecordSequence | undefined;
  return records.map((record, subSequenceNumber) => {
    const name = `record ${subSequenceNumber}`;
    const partitionKey = entryOf(partitionKeys, record.partitionKeyIndex, `the partition key of ${name}`);
    const userRecord: UserRecord = { partitionKey, data: record.data, subSequenceNumber };
    if (record.explicitHashKeyIndex !== undefined) {
      const hashKey = entryOf(explicitHashKeys, record.explicitHashKeyIndex, `the explicit hash key of ${name}`);
      userRecord.explicitHashKey = hashKey;
    }
    sequence = record.sequence ?? (sequence && nextSequence(sequence));
    if (sequence !== undefined) userRecord.sequence = sequence;
    return userRecord;
  });
}

function entryOf<T>(table: readonly T[], index: number, name: string): T {
  const entry = table[index];
  if (entry === undefined) throw new CorruptAggregateError(`${name} is number ${index} in a table of ${table.length}`);
  return entry;
}

function readAggregate(message: Uint8Array): Aggregate {
  const aggregate: Aggregate = { partitionKeys: [], explicitHashKeys: [], records: [] };
  const { partitionKeys, explicitHashKeys, records } = aggregate;
  const reader = new MessageReader(message, 'it');
  for (let field = reader.nextField(); field !== undefined; field = reader.nextField()) {
    if (field === AGGREGATE_FIELDS.partitionKeys) {
      partitionKeys.push(textOf(reader.bytes(field), `partition key ${partitionKeys.length}`));
    } else if (field === AGGREGATE_FIELDS.explicitHashKeys) {
      explicitHashKeys.push(hashKeyOf(reader.bytes(field), `explicit hash key ${explicitHashKeys.length}`));
    } else if (field === AGGREGATE_FIELDS.records) {
      records.push(readRecord(reader.bytes(field), `record ${records.length}`));
    } else reader.skip();
  }
  return aggregate;
}

function readRecord(message: Uint8Array, name: string): AggregatedRecord {
  let partitionKeyIndex: number | undefined;
  let explicitHashKeyIndex: number | undefined;
  let data: Uint8Array | undefined;
  let sequence: RecordSequence | undefined;
  const reader = new MessageReader(message, name);
  for (let field = reader.nextField(); field !== undefined; field = reader.nextField()) {
    if (field === RECORD_FIELDS.partitionKeyIndex) partitionKeyIndex = reader.integer(field);
    else if (field === RECORD_FIELDS.explicitHashKeyIndex) explicitHashKeyIndex = reader.integer(field);
    else if (field === RECORD_FIELDS.data) data = reader.bytes(field);
    else if (field === RECORD_FIELDS.tags) sequence = readTag(reader.bytes(field), `a tag of ${name}`) ?? sequence;
    else reader.skip();
  }
  if (partitionKeyIndex === undefined) throw new CorruptAggregateError(`${name} has no partition key`);
  if (data === undefined) throw new CorruptAggregateError(`${name} has no data`);
  return { partitionKeyIndex, explicitHashKeyIndex, data, sequence };
}

/** The sequence in a tag; undefined if the tag is somebody else's. */
function readTag(message: Uint8Array, name: string): RecordSequence | undefined {
  let key: Uint8Array | undefined;
  let value: Uint8Array | undefined;
  const reader = new MessageReader(message, name);
  for (let field = reader.nextField(); field !== undefined; field = reader.nextField()) {
    if (field === TAG_FIELDS.key) key = reader.bytes(field);
    else if (field === TAG_FIELDS.value) value = reader.bytes(field);
    else reader.skip();
  }
  if (key === undefined) throw new CorruptAggregateError(`${name} has no key`);
  if (!SEQUENCE_TAG.equals(key)) return undefined;
  const sequence = value && parseSequenceText(textOf(value, name));
  if (sequence === undefined) throw new CorruptAggregateError(`${name} holds no sequence`);
  return sequence;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new CorruptAggregateError(`${name} is not UTF-8`);
  }
}

function hashKeyOf(bytes: Uint8Array, name: string): bigint {
  const hashKey = parseHashKey(textOf(bytes, name));
  if (hashKey === undefined) throw new CorruptAggregateError(`${name} is no hash key`);
  return hashKey;
}
