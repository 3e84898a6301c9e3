import { type Size, SizeRoundingBehavior, Stack, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { checkOwnEnvironment, constructField, inUnit, problemsOf, refuseToken } from '../construct/props-checks';
import { InvalidArgumentError } from '../core/kernel/errors';
import { MAX_RECORD_LIMIT_BYTES } from '../core/producer/producer-record';
import { checkStreamShardCount } from '../core/sharding/shard-count';
import { checkHashBuckets } from '../core/stream-format/hash-buckets';
import { agreedByProducers, resourceOf, streamProperties } from './stream-properties';

/**
 * Checks the stream that a construct writes to in order, and returns it: it must be of the construct's own account and region, and
 * heed partition keys. The template is checked again when the app is synthesized, for it can change until then.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function orderedStream(scope: IConstruct, stream: kinesis.IStreamRef, property = 'stream'): kinesis.IStreamRef {
  const field = constructField(scope, property);
  checkOwnEnvironment(field, 'a stream', stream, Stack.of(scope));
  const check = () => checkRecordDistribution(field, stream);
  check();
  scope.node.addValidation({ validate: () => problemsOf(check) });
  return stream;
}

/**
 * Checks the stream whose shards a construct looks after, and returns it: it must be of the construct's own account and region,
 * and in provisioned mode.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function provisionedStream(scope: IConstruct, stream: kinesis.IStreamRef): kinesis.IStreamRef {
  const field = constructField(scope, 'stream');
  checkOwnEnvironment(field, 'a stream', stream, Stack.of(scope));
  checkProvisioned(field, stream);
  return stream;
}

/**
 * Checks that a stream can have so many shards, and returns the number. A number that only the deployment knows passes.
 *
 * @throws InvalidShardCountError with the code `INVALID_SHARD_COUNT`
 */
export function possibleShardCount<Count extends number | undefined>(
  scope: IConstruct,
  property: string,
  count: Count,
): Count {
  if (count !== undefined && !Token.isUnresolved(count)) {
    checkStreamShardCount(constructField(scope, property), count);
  }
  return count;
}

/**
 * In on-demand mode Kinesis chooses the shards. An imported stream has no template to look at and passes; the functions look
 * at it before they touch it.
 */
function checkProvisioned(field: string, stream: kinesis.IStreamRef): void {
  const mode = streamProperties(stream).StreamModeDetails?.StreamMode;
  if (mode !== 'ON_DEMAND') return;
  throw new InvalidArgumentError(
    `${field}.streamMode`,
    mode,
    'PROVISIONED, for in on-demand mode Kinesis chooses the shards, and may be set to ignore partition keys and ' +
      'explicit hash keys (record distribution AUTO)',
  );
}

/**
 * With another strategy Kinesis distributes the stream's records itself.
 *
 * An imported stream has no template to look at and passes. Kinesis then takes what the function sends and ignores its keys
 * (of a PutRecord it refuses `SequenceNumberForOrdering` alone); the producer looks at the stream, and stops.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/service-managed-record-distribution.html
 */
function checkRecordDistribution(field: string, stream: kinesis.IStreamRef): void {
  const { RecordDistributionStrategy: strategy } = streamProperties(stream);
  if (strategy !== 'AUTO') return;
  throw new InvalidArgumentError(
    `${field}.recordDistributionStrategy`,
    strategy,
    'USER_PARTITION_KEY, for with AUTO Kinesis ignores partition keys and explicit hash keys and keeps no order',
  );
}

/** The lowest record size limit a stream can be given. Source: the Kinesis API reference, UpdateMaxRecordSize. */
const MIN_RECORD_LIMIT_BYTES = 1024 * 1024;

/**
 * The limit of a stream in KiB.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` unless a stream can have it
 */
export function maxRecordKibibytes(field: string, size: Size): number {
  if (size.isUnresolved()) return inUnit(field, size, 'Size.kibibytes', () => size.toKibibytes());
  const bytes = size.toBytes({ rounding: SizeRoundingBehavior.NONE });
  if (bytes >= MIN_RECORD_LIMIT_BYTES && bytes <= MAX_RECORD_LIMIT_BYTES && bytes % 1024 === 0) return bytes / 1024;
  throw new InvalidArgumentError(field, `${bytes} bytes`, '1 MiB to 10 MiB, a whole number of KiB');
}

/**
 * The record size limit of a function that writes to a stream, in bytes: the size that the function is given, else that of
 * the stream, as far as the template says it by now. The template may say so until the app is synthesized.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` unless a stream can have it, or if the template says that the
 *   stream has a smaller one, for Kinesis would refuse what lies between
 */
export function recordLimitBytes(
  scope: IConstruct,
  stream: kinesis.IStreamRef,
  size: Size | undefined,
): number | undefined {
  const ofStream = streamLimit(stream);
  if (size === undefined) return ofStream;
  const field = constructField(scope, 'maxRecordSize');
  const bytes = maxRecordBytes(field, size);
  checkWithin(field, bytes, stream, ofStream);
  scope.node.addValidation({
    validate: () => problemsOf(() => checkWithin(field, bytes, stream, streamLimit(stream, MIN_RECORD_LIMIT_BYTES))),
  });
  return bytes;
}

function checkWithin(field: string, bytes: number, stream: kinesis.IStreamRef, limit: number | undefined): void {
  if (limit === undefined || Token.isUnresolved(bytes) || bytes <= limit) return;
  throw new InvalidArgumentError(
    field,
    `${bytes} bytes`,
    `at most ${limit} bytes, the limit of the stream ${stream.node.path}: raise its maxRecordSize, too`,
  );
}

/**
 * The record size limit of a stream, in bytes. Undefined if only the deployment knows it, or if the stream is imported without it.
 *
 * @param unlessGiven the limit of a stream of this app that was not given one
 */
export function streamLimit(stream: kinesis.IStreamRef, unlessGiven?: number): number | undefined {
  if (resourceOf(stream) === undefined) {
    const { maxRecordSize } = agreedByProducers(stream);
    return maxRecordSize?.isUnresolved() ? undefined : maxRecordSize?.toBytes();
  }
  const { MaxRecordSizeInKiB: kibibytes } = streamProperties(stream);
  if (kibibytes === undefined) return unlessGiven;
  // CloudFormation also accepts a number that is written as text.
  const isKnown = typeof kibibytes === 'number' || (typeof kibibytes === 'string' && /^\d+$/.test(kibibytes));
  return isKnown ? Number(kibibytes) * 1024 : undefined;
}

/**
 * How many hash buckets a function that writes to a stream has: those of the stream, if it is known how many it has, for all
 * producers of a key must agree; else those that the function is given.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a number that is none of hash buckets, or another than the
 *   stream's
 */
export function hashBucketsOf(scope: IConstruct, stream: kinesis.IStreamRef, given: number | undefined) {
  const { hashBuckets: ofStream } = agreedByProducers(stream);
  if (given === undefined) return ofStream;
  const field = constructField(scope, 'hashBuckets');
  possibleHashBuckets(field, given);
  if (ofStream === undefined || given === ofStream) return given;
  throw new InvalidArgumentError(field, given, `absent, or the ${ofStream} of the stream`);
}

/** @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a number that no hash buckets can have */
export function possibleHashBuckets(field: string, hashBuckets: number): void {
  refuseToken(field, hashBuckets, 'a power of two');
  checkHashBuckets(field, hashBuckets);
}

function maxRecordBytes(field: string, size: Size): number {
  const bytes = inUnit(field, size, 'Size.bytes', () => size.toBytes({ rounding: SizeRoundingBehavior.NONE }));
  const allowed = Number.isInteger(bytes) && bytes >= MIN_RECORD_LIMIT_BYTES && bytes <= MAX_RECORD_LIMIT_BYTES;
  if (allowed || Token.isUnresolved(bytes)) return bytes;
  throw new InvalidArgumentError(
    field,
    `${bytes} bytes`,
    '1 MiB to 10 MiB, a whole number of bytes that a stream can have as its limit',
  );
}
