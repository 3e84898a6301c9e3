import { InvalidHashKeyError } from '../../lib/core/errors';
import { parseHashKey } from '../../lib/core/key-space/hash-key-space';
import { checkProducerRecord, type ProducerRecord } from '../../lib/core/producer/producer-record';
import { decodeBase64 } from '../base64';
import { InvalidEventError } from '../invalid-event-error';

/** A record as an event carries it. */
export interface RecordInput {
  /** 1 to 256 characters. */
  partitionKey: string;
  /** Text, sent as UTF-8, or any other JSON value, sent as JSON. Exactly one of `data` and `dataBase64`. */
  data?: unknown;
  /** Bytes in base64. Exactly one of `data` and `dataBase64`. */
  dataBase64?: string;
  /** A decimal integer from 0 to 2^128 - 1. */
  explicitHashKey?: string;
}

/** What the stream takes. */
export interface RecordLimits {
  /** The largest record, in bytes. @default 1 MiB */
  maxRecordBytes?: number;
}

const FIELDS = ['partitionKey', 'data', 'dataBase64', 'explicitHashKey'];

/**
 * Turns a record of an event into a record for the stream, and throws a typed error that names the field at fault.
 *
 * @param field where the record stands in the event, such as `records[3]`
 */
export function parseRecordInput(field: string, input: unknown, { maxRecordBytes }: RecordLimits = {}): ProducerRecord {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new InvalidEventError(field, input, 'an object with partitionKey and data or dataBase64');
  }
  const { hashKeyOwner, ...rest } = input as RecordInput & { hashKeyOwner?: unknown };
  if (hashKeyOwner !== undefined) {
    throw new InvalidEventError(
      `${field}.hashKeyOwner`,
      hashKeyOwner,
      'absent: this function has no hash key registry',
    );
  }
  for (const name of Object.keys(rest)) {
    if (!FIELDS.includes(name)) throw new InvalidEventError(field, name, `made of ${FIELDS.join(', ')}`);
  }
  const record: ProducerRecord = { partitionKey: rest.partitionKey, data: parseData(field, rest) };
  if (rest.explicitHashKey !== undefined) record.explicitHashKey = hashKeyOf(field, rest.explicitHashKey);
  checkProducerRecord(record, { field, maxRecordBytes });
  return record;
}

function parseData(field: string, { data, dataBase64 }: RecordInput): Uint8Array {
  if ((data === undefined) === (dataBase64 === undefined)) {
    throw new InvalidEventError(field, data === undefined ? 'neither' : 'both', 'exactly one of data and dataBase64');
  }
  if (dataBase64 === undefined) return Buffer.from(typeof data === 'string' ? data : JSON.stringify(data));
  return decodeBase64(`${field}.dataBase64`, dataBase64);
}

function hashKeyOf(field: string, text: unknown): bigint {
  const hashKey = typeof text === 'string' ? parseHashKey(text) : undefined;
  if (hashKey !== undefined) return hashKey;
  throw new InvalidHashKeyError(`${field}.explicitHashKey`, text, 'a decimal integer from 0 to 2^128 - 1, as a string');
}
