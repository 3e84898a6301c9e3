import { InvalidArgumentError } from '../kernel/errors';
import { checkHashKey } from '../stream-format/hash-key-space';
import { MAX_SEQUENCE_NUMBER, type RecordSequence } from '../stream-format/record-sequence';
import { InvalidPartitionKeyError, RecordTooLargeError } from './producer-errors';

/** A record for the stream. Records of one partition key arrive in the order they were put. */
export interface ProducerRecord {
  /** The partition key has 1 to 256 characters. It decides the order, and the shard unless there is an explicit hash key. */
  partitionKey: string;
  /** The data are not copied: leave them as they are until the record has ended. */
  data: Uint8Array;
  /** A number from 0 to 2^128 - 1 that decides the shard in place of the partition key. */
  explicitHashKey?: bigint;
  /**
   * The place in a sequence that the source of the record gave it, for records that are put again when the source
   * delivers them again: a consumer can tell. It cannot tell by the place that the option `sequence` gives each put.
   */
  sequence?: RecordSequence;
}

/**
 * The longest partition key. The Kinesis API reference, PutRecordsRequestEntry, says 256 Unicode characters; we count
 * UTF-16 code units, never fewer, so that no key passes here and fails a whole request there.
 */
export const MAX_PARTITION_KEY_LENGTH = 256;

/** The record size limit of a stream that was not given another. Source: the Kinesis API reference, PutRecords. */
export const DEFAULT_MAX_RECORD_BYTES = 1024 * 1024;

/** The highest record size limit a stream can be given. Source: the Kinesis API reference, UpdateMaxRecordSize. */
export const MAX_RECORD_LIMIT_BYTES = 10 * 1024 * 1024;

/** UTF-8 has no bytes for a lone surrogate: two keys with one would become the same key. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * @param context.maxRecordBytes the stream's record size limit; default 1 MiB
 * @param context.field where the record stands, such as `records[3]`; put before the field's name in the message
 * @returns what the record counts against Kinesis' limits, in bytes: its data and its partition key in UTF-8
 * @throws InvalidPartitionKeyError, InvalidHashKeyError, InvalidArgumentError or RecordTooLargeError
 * @throws a typed error unless Kinesis would accept the record
 */
export function checkProducerRecord(
  record: ProducerRecord,
  { maxRecordBytes = DEFAULT_MAX_RECORD_BYTES, field }: { maxRecordBytes?: number; field?: string } = {},
): number {
  if (typeof record !== 'object' || record === null) {
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

function checkPartitionKey(field: string, partitionKey: unknown): void {
  if (typeof partitionKey !== 'string' || partitionKey === '' || partitionKey.length > MAX_PARTITION_KEY_LENGTH) {
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
