import { isText } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { NewerFormatError } from '../kernel/format-version';
import { parseFence } from '../stream-format/fence';
import { CorruptAggregateError } from './consumer-errors';
import { deaggregate } from './deaggregate';
import type { ParkedRecord } from './parking-store';
import { positionInSequence, positionsInShard, sourceName } from './sequence-position';

/** A record from a shard of a Kinesis stream or of a table's stream: one user record, or an aggregate of several user records. */
export interface ShardRecord {
  /**
   * The shard. Events of a table's stream do not contain the shard, so all shards of a table's stream have the same name here.
   */
  shardId: string;
  /** The partition key of the Kinesis record. */
  partitionKey: string;
  /** The sequence number of the record in the stream, in decimal digits. */
  sequenceNumber: string;
  /** The data, as bytes. */
  data: Uint8Array;
}

/** Records of one source. */
export interface SourceBatch {
  /** The name of the source, as a part of the names of series. */
  source: string;
  records: readonly ShardRecord[];
}

export interface Arrival extends ParkedRecord {
  /** The index of this user record's Kinesis record in the batch. */
  batchIndex: number;
  isFence: boolean;
}

/**
 * Groups the user records of a batch by partition key. Keys are in the order of their first records, and the records of a key are
 * in order.
 */
export function arrivalsByKey(
  { source, records: batch }: SourceBatch,
  onCorrupt: 'throw' | 'raw',
): Map<string, Arrival[]> {
  const keys = new Map<string, Arrival[]>();
  for (let batchIndex = 0; batchIndex < batch.length; batchIndex++) {
    const record = batch[batchIndex]!;
    const positionOf = positionsInShard(source, record);
    for (const userRecord of userRecords(record, onCorrupt)) {
      const { partitionKey, explicitHashKey, sequence, subSequenceNumber, data, isCorrupt } = userRecord;
      const inShard = positionOf(subSequenceNumber);
      const positions =
        sequence === undefined ? [inShard] : [positionInSequence(source, sequence, explicitHashKey), inShard];
      const isFence = isCorrupt !== true && parseFence(data) !== undefined;
      // Copies the fields one by one, because a spread of objects with different fields takes longer than all other work on a
      // record.
      const arrival: Arrival = {
        partitionKey,
        explicitHashKey,
        data,
        subSequenceNumber,
        sequence,
        isCorrupt,
        positions,
        batchIndex,
        isFence,
      };
      const ofKey = keys.get(partitionKey);
      if (ofKey === undefined) keys.set(partitionKey, [arrival]);
      else ofKey.push(arrival);
    }
  }
  return keys;
}

/**
 * Deaggregates a record. A record that this release cannot read stays one record, and the attempt to handle the record will throw
 * the error.
 */
function userRecords(record: ShardRecord, onCorrupt: 'throw' | 'raw'): Omit<ParkedRecord, 'positions'>[] {
  try {
    const all = deaggregate(record, { onCorrupt });
    // Throws for a fence that this release cannot read.
    for (const { data } of all) parseFence(data);
    return all;
  } catch (error) {
    if (!(error instanceof CorruptAggregateError || error instanceof NewerFormatError)) throw error;
    return [{ partitionKey: record.partitionKey, data: record.data, subSequenceNumber: 0, isCorrupt: true }];
  }
}

/** The event of an event source mapping. */
export interface StreamEvent {
  /** The records of one shard, in order. */
  Records: readonly object[];
}

const SEQUENCE_NUMBER = /^\d{1,129}$/;

/**
 * Checks the records of a source outside Lambda.
 *
 * @throws InvalidArgumentError if the source has no name, or a record lacks its shard, partition key or sequence number
 */
export function sourceBatch(source: unknown, records: Iterable<ShardRecord>): SourceBatch {
  checkSource('source', source);
  const all = [...records];
  for (const [index, record] of all.entries()) {
    const { shardId, partitionKey, sequenceNumber }: Partial<ShardRecord> = Object(record);
    checkText(`records[${index}].shardId`, shardId);
    checkText(`records[${index}].partitionKey`, partitionKey);
    checkNumber(`records[${index}].sequenceNumber`, sequenceNumber);
  }
  return { source: sourceName(source), records: all };
}

/**
 * The records of an event. In an event of Lambda, all records name the same source. In a handwritten event, the source may be
 * absent.
 *
 * @throws InvalidArgumentError if the event is not from Kinesis or DynamoDB, because a partial batch response would not be
 *   possible
 */
export function eventBatch({ Records }: StreamEvent): SourceBatch {
  const records = Records.map((record, index) => shardRecord(Object(record), `event.Records[${index}]`));
  const [first, ...others] = Records.map((record) => Object(record).eventSourceARN);
  if (first !== undefined) checkSource('event.Records[0].eventSourceARN', first);
  const other = others.findIndex((each) => each !== first);
  if (other >= 0) {
    const allowed = 'the ARN of the first record (a batch has one source)';
    throw new InvalidArgumentError(`event.Records[${other + 1}].eventSourceARN`, others[other], allowed);
  }
  return { source: sourceName(first ?? ''), records };
}

/** The longest ARN. Source: the Kinesis API reference, StreamARN and ConsumerARN. */
const LONGEST_SOURCE = 2_048;

function checkSource(field: string, source: unknown): asserts source is string {
  if (isText(source) && source.length <= LONGEST_SOURCE) return;
  const allowed = `the ARN of a stream, or another name of the source, of 1 to ${LONGEST_SOURCE} characters`;
  throw new InvalidArgumentError(field, source, allowed);
}

// biome-ignore lint/suspicious/noExplicitAny: the caller can pass any value, so each field is checked
function shardRecord(record: any, field: string): ShardRecord {
  const { eventSource, eventID, kinesis, dynamodb } = record;
  if (eventSource === 'aws:kinesis') {
    const { partitionKey, sequenceNumber, data } = Object(kinesis);
    checkText(`${field}.kinesis.partitionKey`, partitionKey);
    checkText(`${field}.kinesis.data`, data);
    checkNumber(`${field}.kinesis.sequenceNumber`, sequenceNumber);
    const shardId = typeof eventID === 'string' ? eventID.slice(0, eventID.indexOf(':')) : '';
    return { shardId, partitionKey, sequenceNumber, data: Buffer.from(data, 'base64') };
  }
  if (eventSource !== 'aws:dynamodb') {
    throw new InvalidArgumentError(`${field}.eventSource`, eventSource, "'aws:kinesis' or 'aws:dynamodb'");
  }
  checkNumber(`${field}.dynamodb.SequenceNumber`, Object(dynamodb).SequenceNumber);
  return {
    shardId: 'table',
    partitionKey: itemKey(dynamodb.Keys),
    sequenceNumber: dynamodb.SequenceNumber,
    data: Buffer.from(JSON.stringify(record)),
  };
}

function checkText(field: string, value: unknown): void {
  if (typeof value !== 'string') throw new InvalidArgumentError(field, value, 'a string');
}

function checkNumber(field: string, value: unknown): void {
  if (typeof value !== 'string' || !SEQUENCE_NUMBER.test(value)) {
    throw new InvalidArgumentError(field, value, 'a string of digits');
  }
}

/** The key of an item as text. Different items have different texts. */
function itemKey(keys: unknown): string {
  return JSON.stringify(Object.entries(Object(keys)).sort(([a], [b]) => (a < b ? -1 : 1)));
}
