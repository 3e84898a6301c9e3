import { isRecord } from '../../lib/core/kernel/checks';
import { InvalidHashKeyError } from '../../lib/core/kernel/errors';
import { checkProducerRecord, type ProducerRecord } from '../../lib/core/producer/producer-record';
import { checkOwner } from '../../lib/core/registry/hash-key-owner';
import { parseHashKey } from '../../lib/core/stream-format/hash-key-space';
import { decodeBase64 } from '../base64';
import { InvalidEventError } from '../invalid-event-error';
import type { OwnerKeyError } from './owner-key-error';

/** A record in an event. */
interface RecordInput {
  /** 1 to 256 characters. */
  partitionKey: string;
  /**
   * A text, which is sent as UTF-8, or any other JSON value, which is sent as JSON. Exactly one of `data` and
   * `dataBase64` must be present.
   */
  data?: unknown;
  /** Bytes in base64. Exactly one of `data` and `dataBase64` must be present. */
  dataBase64?: string;
  /** A decimal integer from 0 to 2^128 - 1. */
  explicitHashKey?: string;
  /** The owner whose hash key the record gets instead of an explicit hash key. It requires a registry. */
  hashKeyOwner?: string;
}

/** A record with an owner whose key the function must still request from the registry. */
export interface OwnedRecord extends ProducerRecord {
  hashKeyOwner?: string;
  /** The error of the request for the owner's hash key. The record must not be sent. */
  ownerKeyError?: OwnerKeyError;
}

/** The limits of the stream and the function. */
export interface RecordLimits {
  /** The maximum size of a record, in bytes. @default 1 MiB */
  maxRecordBytes?: number;
  /** Whether the function has a hash key registry. @default false */
  hasRegistry?: boolean;
}

const FIELDS = ['partitionKey', 'data', 'dataBase64', 'explicitHashKey', 'hashKeyOwner'];

/**
 * Parses a record of an event. Throws a typed error that contains the name of the invalid field.
 *
 * @param field the position of the record in the event, such as `records[3]`
 */
export function parseRecordInput(
  field: string,
  input: unknown,
  { maxRecordBytes, hasRegistry = false }: RecordLimits = {},
): OwnedRecord {
  if (!isRecord(input)) {
    throw new InvalidEventError(field, input, 'an object with partitionKey and data or dataBase64');
  }
  const rest = input as RecordInput & Record<string, unknown>;
  for (const name of Object.keys(rest)) {
    if (!FIELDS.includes(name)) throw new InvalidEventError(field, name, `an object with only ${FIELDS.join(', ')}`);
  }
  const record: ProducerRecord = { partitionKey: rest.partitionKey, data: parseData(field, rest) };
  if (rest.explicitHashKey !== undefined) record.explicitHashKey = hashKeyOf(field, rest.explicitHashKey);
  checkProducerRecord(record, { field, maxRecordBytes });
  const { hashKeyOwner } = rest;
  if (hashKeyOwner === undefined) return record;
  checkHashKeyOwner(`${field}.hashKeyOwner`, rest, hasRegistry);
  return { ...record, hashKeyOwner };
}

function checkHashKeyOwner(field: string, { hashKeyOwner, explicitHashKey }: RecordInput, hasRegistry: boolean): void {
  if (!hasRegistry)
    throw new InvalidEventError(field, hashKeyOwner, 'absent, because this function has no hash key registry');
  if (explicitHashKey !== undefined)
    throw new InvalidEventError(field, hashKeyOwner, 'absent, because the record has an explicitHashKey');
  checkOwner(field, hashKeyOwner);
}

function parseData(field: string, { data, dataBase64 }: RecordInput): Uint8Array {
  if ((data === undefined) === (dataBase64 === undefined)) {
    throw new InvalidEventError(field, data === undefined ? 'neither' : 'both', 'exactly one of data and dataBase64');
  }
  if (dataBase64 !== undefined) return decodeBase64(`${field}.dataBase64`, dataBase64);
  return Buffer.from(typeof data === 'string' ? data : jsonText(`${field}.data`, data));
}

/** `JSON.parse` accepts any depth, but `JSON.stringify` fails for several thousand levels. */
function jsonText(field: string, data: unknown): string {
  try {
    return JSON.stringify(data);
  } catch {
    throw new InvalidEventError(field, 'deeper', 'nested less deeply, at most several thousand levels');
  }
}

function hashKeyOf(field: string, text: unknown): bigint {
  const hashKey = typeof text === 'string' ? parseHashKey(text) : undefined;
  if (hashKey !== undefined) return hashKey;
  throw new InvalidHashKeyError(`${field}.explicitHashKey`, text, 'a decimal integer from 0 to 2^128 - 1, as a string');
}
