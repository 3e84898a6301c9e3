import { InvalidArgumentError } from '../kernel/errors';
import {
  AGGREGATE_FIELDS,
  DIGEST_BYTES,
  digestOf,
  hasMagic,
  MAGIC,
  RECORD_FIELDS,
  TAG_FIELDS,
} from '../stream-format/aggregate-format';
import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { checkHashKey, hashPartitionKey, parseHashKey } from '../stream-format/hash-key-space';
import { nextSequence, parseSequenceText, type RecordSequence, SEQUENCE_TAG } from '../stream-format/record-sequence';
import { CorruptAggregateError } from './consumer-errors';
import { MessageReader } from './message-reader';

/** A record as a caller passed it to the producer, whether the stream stores it alone or in an aggregate. */
export interface UserRecord {
  /** The partition key of the user record. */
  partitionKey: string;
  /**
   * The explicit hash key of the user record. Kinesis does not return the explicit hash key of a user record outside an
   * aggregate.
   */
  explicitHashKey?: bigint;
  /** The data of the user record. It is a view of the data of the Kinesis record, not a copy. */
  data: Uint8Array;
  /** The 0-based position of the user record in its aggregate; 0 for a user record outside an aggregate. */
  subSequenceNumber: number;
  /** The producer id and the number of the record. Absent if the producer does not give its records a sequence. */
  sequence?: RecordSequence;
}

/** A Kinesis record, as the stream stores it: one user record, or one aggregate of several user records. */
export interface StreamRecord {
  /** The partition key of the Kinesis record. */
  partitionKey: string;
  /** The data of the Kinesis record, as bytes. Decode base64 first. */
  data: Uint8Array;
  /** The explicit hash key of the Kinesis record, if you know it. Text must consist of decimal digits. */
  explicitHashKey?: string | bigint;
}

/** Options of `deaggregate`. */
export interface DeaggregateOptions {
  /**
   * The hash key range of the shard from which you read the record. User records outside this range are dropped. Set this
   * option if the Kinesis Producer Library writes to the stream, because that library sends the dropped user records again. If
   * a user record is outside the range, the Kinesis Client Library drops the whole aggregate. An `OrderedProducer` never writes
   * records outside the range.
   * @default all user records
   */
  range?: HashKeyRange;
  /**
   * What to do with a record that begins like an aggregate but is not valid: `throw` an error, or return the record unchanged
   * (`raw`). The Kinesis Client Library returns the record unchanged if the MD5 or the protocol buffer is wrong. Use `raw` if
   * other programs write arbitrary bytes to the stream.
   * @default 'throw'
   */
  onCorrupt?: 'throw' | 'raw';
}

/**
 * Returns the user records of a Kinesis record, in the order in which they were put. An aggregate of the Kinesis Producer Library
 * has several user records. Any other record is returned as one user record. Use it for every record that you read from a stream
 * with aggregation.
 *
 * The data of the user records are views of the data of the Kinesis record, not copies.
 *
 * @throws CorruptAggregateError if the record starts like an aggregate but is not valid: its MD5 does not match, or its content
 *   does not follow the format. A producer that aggregates never writes such a record, but one in 2^32 records of random bytes
 *   begins like an aggregate
 * @throws InvalidArgumentError if the argument is not a record, for example if its data is still in base64
 */
export function deaggregate(
  record: StreamRecord,
  { range, onCorrupt = 'throw' }: DeaggregateOptions = {},
): UserRecord[] {
  if (!(record?.data instanceof Uint8Array)) throw new InvalidArgumentError('data', record?.data, 'a Uint8Array');
  if (onCorrupt !== 'throw' && onCorrupt !== 'raw') {
    throw new InvalidArgumentError('onCorrupt', onCorrupt, "'throw' or 'raw'");
  }
  if (range !== undefined) checkRange(range);
  if (!hasMagic(record.data)) return [rawRecord(record)];
  try {
    const records = userRecords(readAggregate(verifiedMessage(record.data)));
    return range === undefined ? records : records.filter((userRecord) => isWithin(range, userRecord));
  } catch (error) {
    if (onCorrupt === 'raw' && error instanceof CorruptAggregateError) return [rawRecord(record)];
    throw error;
  }
}

function checkRange({ startingHashKey, endingHashKey }: HashKeyRange): void {
  checkHashKey('range.startingHashKey', startingHashKey);
  checkHashKey('range.endingHashKey', endingHashKey);
}

function isWithin(
  { startingHashKey, endingHashKey }: HashKeyRange,
  { partitionKey, explicitHashKey }: UserRecord,
): boolean {
  const hashKey = explicitHashKey ?? hashPartitionKey(partitionKey);
  return startingHashKey <= hashKey && hashKey <= endingHashKey;
}

function rawRecord({ partitionKey, data, explicitHashKey }: StreamRecord): UserRecord {
  if (explicitHashKey === undefined) return { partitionKey, data, subSequenceNumber: 0 };
  const hashKey = typeof explicitHashKey === 'string' ? hashKeyIn(explicitHashKey) : explicitHashKey;
  // If the text is not a hash key, the error shows the text.
  checkHashKey('explicitHashKey', hashKey ?? explicitHashKey);
  return { partitionKey, explicitHashKey: hashKey, data, subSequenceNumber: 0 };
}

const LEADING_ZEROS = /^0+(?=\d)/;

/** Parses a hash key that another producer wrote. Leading zeros are allowed, because the Kinesis Client Library accepts them. */
function hashKeyIn(text: string): bigint | undefined {
  return parseHashKey(text.replace(LEADING_ZEROS, ''));
}

/** Checks the MD5, and returns the bytes between the magic bytes and the MD5. */
function verifiedMessage(data: Uint8Array): Uint8Array {
  const end = data.length - DIGEST_BYTES;
  if (end < MAGIC.length) throw new CorruptAggregateError('it ends before its MD5');
  const message = data.subarray(MAGIC.length, end);
  if (!digestOf(message).equals(data.subarray(end))) throw new CorruptAggregateError('its MD5 does not match');
  return message;
}

/**
 * The content of an aggregate. A record names its partition key and its explicit hash key by their positions in the two tables of
 * keys.
 */
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

/**
 * Looks up the keys of the records only after the whole message is read, because keys may come after records in the message. If
 * a record has no sequence but the previous record has a sequence, the record gets the next number of that sequence.
 */
function userRecords({ partitionKeys, explicitHashKeys, records }: Aggregate): UserRecord[] {
  if (records.length === 0) throw new CorruptAggregateError('it does not hold a record');
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
  if (entry === undefined)
    throw new CorruptAggregateError(`${name} refers to entry ${index} of a table with ${table.length} entries`);
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

/** Reads the sequence in a tag. Returns undefined if the tag has another meaning, because another program wrote it. */
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
  if (sequence === undefined) throw new CorruptAggregateError(`${name} does not hold a sequence`);
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
  const hashKey = hashKeyIn(textOf(bytes, name));
  if (hashKey === undefined) throw new CorruptAggregateError(`${name} is not a hash key`);
  return hashKey;
}
