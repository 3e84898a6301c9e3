import { isObject, isText } from '../kernel/checks';
import { InvalidArgumentError } from '../kernel/errors';
import { checkHashKey } from '../stream-format/hash-key-space';
import { MAX_SEQUENCE_NUMBER, type RecordSequence } from '../stream-format/record-sequence';
import { InvalidPartitionKeyError, RecordTooLargeError } from './producer-errors';

/** A record for the stream. Records of one partition key are stored in the order in which they were put. */
export interface ProducerRecord {
  /** The partition key has 1 to 256 characters. It decides the order and, without an explicit hash key, the shard. */
  partitionKey: string;
  /** The producer does not copy the data: do not change them until the record has its result. */
  data: Uint8Array;
  /** A number from 0 to 2^128 - 1 that decides the shard instead of the partition key. */
  explicitHashKey?: bigint;
  /**
   * The record's sequence position in its source. If the source delivers the record again, a consumer can recognise the
   * duplicate. In contrast, the option `sequence` gives the record a new position at each put.
   */
  sequence?: RecordSequence;
}

/**
 * The longest partition key, in UTF-16 code units. The Kinesis API reference, PutRecordsRequestEntry, allows 256 Unicode
 * characters, which have at least as many code units. So no accepted key can make Kinesis reject a whole request.
 */
export const MAX_PARTITION_KEY_LENGTH = 256;

/** The default record size limit of a stream. Source: the Kinesis API reference, PutRecords. */
export const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/** The highest record size limit that a stream can have. Source: the Kinesis API reference, UpdateMaxRecordSize. */
export const MAX_RECORD_LIMIT_BYTES = 10 * 1024 * 1024;

/** UTF-8 has no bytes for a lone surrogate, so two different keys could become equal. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Checks a record.
 *
 * @param context.maxRecordBytes the stream's record size limit; default 1 MiB
 * @param context.field the path of the record in the event, such as `records[3]`, for the error message
 * @returns the bytes of the record that count against Kinesis' limits: its data and its partition key in UTF-8
 * @throws InvalidPartitionKeyError, InvalidHashKeyError, InvalidArgumentError or RecordTooLargeError if Kinesis would reject
 *   the record
 */
export function checkProducerRecord(
  record: ProducerRecord,
  { maxRecordBytes = DEFAULT_MAX_RECORD_BYTES, field }: { maxRecordBytes?: number; field?: string } = {},
): number {
  if (!isObject(record)) {
    throw new InvalidArgumentError(field ?? 'record', record, 'an object with partitionKey and data');
  }
  const { partitionKey, data, explicitHashKey, sequence } = record;
  checkPartitionKey(path(field, 'partitionKey'), partitionKey);
  if (explicitHashKey !== undefined) checkHashKey(path(field, 'explicitHashKey'), explicitHashKey);
  if (sequence !== undefined) checkSequence(path(field, 'sequence'), sequence);
  if (!(data instanceof Uint8Array)) throw new InvalidArgumentError(path(field, 'data'), data, 'a Uint8Array');
  const bytes = data.byteLength + Buffer.byteLength(partitionKey, 'utf8');
  if (bytes > maxRecordBytes) {
    throw new RecordTooLargeError(
      path(field, 'data'),
      bytes,
      `at most ${maxRecordBytes} bytes together with the partition key`,
    );
  }
  return bytes;
}

function path(field: string | undefined, name: string): string {
  return field === undefined ? name : `${field}.${name}`;
}

/** @throws InvalidPartitionKeyError if Kinesis would reject the partition key */
export function checkPartitionKey(field: string, partitionKey: unknown): void {
  if (!isText(partitionKey) || partitionKey.length > MAX_PARTITION_KEY_LENGTH) {
    throw new InvalidPartitionKeyError(field, partitionKey, `a string of 1 to ${MAX_PARTITION_KEY_LENGTH} characters`);
  }
  if (LONE_SURROGATE.test(partitionKey)) {
    throw new InvalidPartitionKeyError(field, partitionKey, 'well-formed Unicode, without lone surrogates');
  }
}

function checkSequence(field: string, { producerId, sequenceNumber }: RecordSequence): void {
  if (typeof producerId !== 'string' || !/^.{1,256}$/su.test(producerId) || LONE_SURROGATE.test(producerId)) {
    throw new InvalidArgumentError(`${field}.producerId`, producerId, 'a string of 1 to 256 characters');
  }
  if (typeof sequenceNumber !== 'bigint' || sequenceNumber < 0n || sequenceNumber >= MAX_SEQUENCE_NUMBER) {
    throw new InvalidArgumentError(`${field}.sequenceNumber`, sequenceNumber, 'a bigint from 0 to 10^40 - 1');
  }
}
