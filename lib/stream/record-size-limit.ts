import { Size, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { constructField } from '../construct/props';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { InvalidArgumentError } from '../core/kernel/errors';
import { MAX_RECORD_LIMIT_BYTES } from '../core/producer/producer-record';
import { resourceOf, sharedProducerSettings, streamProperties } from './stream-properties';

const MIN_RECORD_LIMIT = Size.mebibytes(1);

/** The bounds of a stream's record size limit. Source: the Kinesis API reference, UpdateMaxRecordSize. */
export const RECORD_LIMITS = { min: MIN_RECORD_LIMIT, max: Size.bytes(MAX_RECORD_LIMIT_BYTES) };

/**
 * The record size limit of a producer in bytes: `bytes` if it is defined, otherwise the limit of the stream. An escape
 * hatch can change the limit of the stream later, so synthesis repeats the check.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the stream has a smaller limit, because Kinesis
 *   would reject a record whose size is between the two limits
 */
export function recordLimitBytes(
  scope: IConstruct,
  stream: kinesis.IStreamRef,
  bytes: number | undefined,
): number | undefined {
  const ofStream = streamLimit(stream);
  if (bytes === undefined) return ofStream;
  const field = constructField(scope, 'maxRecordSize');
  checkWithin(field, bytes, stream, ofStream);
  checkAtSynthesis(scope, () => checkWithin(field, bytes, stream, streamLimit(stream, MIN_RECORD_LIMIT.toBytes())));
  return bytes;
}

function checkWithin(field: string, bytes: number, stream: kinesis.IStreamRef, limit: number | undefined): void {
  if (limit === undefined || Token.isUnresolved(bytes) || bytes <= limit) return;
  throw new InvalidArgumentError(
    field,
    `${bytes} bytes`,
    `at most ${limit} bytes, the limit of the stream ${stream.node.path} (also increase the maxRecordSize of the stream)`,
  );
}

/**
 * The record size limit of a stream, in bytes. Undefined if the limit is a token, or if the stream is imported without
 * a limit.
 *
 * @param defaultBytes the limit of a stream of this app whose template contains no limit
 */
export function streamLimit(stream: kinesis.IStreamRef, defaultBytes?: number): number | undefined {
  if (resourceOf(stream) === undefined) {
    const { maxRecordSize } = sharedProducerSettings(stream);
    return maxRecordSize?.isUnresolved() ? undefined : maxRecordSize?.toBytes();
  }
  const { MaxRecordSizeInKiB: kibibytes } = streamProperties(stream);
  if (kibibytes === undefined) return defaultBytes;
  // CloudFormation also accepts a number as text.
  const isKnown = typeof kibibytes === 'number' || (typeof kibibytes === 'string' && /^\d+$/.test(kibibytes));
  return isKnown ? Number(kibibytes) * 1024 : undefined;
}
