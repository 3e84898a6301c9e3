import { type Size, SizeRoundingBehavior, Token } from 'aws-cdk-lib';
import { InvalidArgumentError } from '../core/foundation/errors';
import { MAX_RECORD_LIMIT_BYTES } from '../core/producer/producer-record';

/** The lowest record size limit a stream can be given. Source: the Kinesis API reference, UpdateMaxRecordSize. */
const MIN_RECORD_LIMIT_BYTES = 1024 * 1024;

/** A record size limit in bytes. Throws an error with the code `INVALID_ARGUMENT` unless a stream can have it. */
export function maxRecordBytes(field: string, size: Size): number {
  const bytes = size.toBytes({ rounding: SizeRoundingBehavior.NONE });
  const allowed = Number.isInteger(bytes) && bytes >= MIN_RECORD_LIMIT_BYTES && bytes <= MAX_RECORD_LIMIT_BYTES;
  if (allowed || Token.isUnresolved(bytes)) return bytes;
  throw new InvalidArgumentError(
    field,
    `${bytes} bytes`,
    '1 MiB to 10 MiB, a whole number of bytes that a stream can have as its limit',
  );
}
