import { Size, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { checkOwnEnvironment, constructField, Props, problemsOf } from '../construct/props';
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
  checkOwnEnvironment(scope, property, 'a stream', stream);
  const check = () => checkRecordDistribution(constructField(scope, property), stream);
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
  checkOwnEnvironment(scope, 'stream', 'a stream', stream);
  checkProvisioned(constructField(scope, 'stream'), stream);
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
 * (of a PutRecord it rejects `SequenceNumberForOrdering` alone); the producer looks at the stream, and stops.
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

/** The record size limits that a stream can have. Source: the Kinesis API reference, UpdateMaxRecordSize. */
const MIN_RECORD_LIMIT = Size.mebibytes(1);
const RECORD_LIMITS = { min: MIN_RECORD_LIMIT, max: Size.bytes(MAX_RECORD_LIMIT_BYTES) };

/**
 * The limit of a stream in KiB.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` unless a stream can have it
 */
export function maxRecordKibibytes(scope: IConstruct, given: { readonly maxRecordSize?: Size }): number | undefined {
  return Props.of(scope, given).kibibytes('maxRecordSize', RECORD_LIMITS);
}

/** What a function that writes to a stream in order knows of the stream. */
export interface OrderedStreamSettings {
  readonly stream: kinesis.IStreamRef;
  readonly maxRecordBytes?: number;
  readonly hashBuckets?: number;
}

/** The properties of a function that writes to a stream in order, as far as they must agree with the stream. */
interface OrderedStreamProps {
  readonly maxRecordSize?: Size;
  readonly hashBuckets?: number;
}

/**
 * Checks the stream that a function writes to in order, and what the function is given about it.
 *
 * @param property the property that holds the stream
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function orderedStreamSettings(
  scope: IConstruct,
  property: string,
  stream: kinesis.IStreamRef,
  given: OrderedStreamProps,
): OrderedStreamSettings {
  const props = Props.of(scope, given);
  return {
    stream: orderedStream(scope, stream, property),
    maxRecordBytes: recordLimitBytes(scope, stream, props.bytes('maxRecordSize', RECORD_LIMITS)),
    hashBuckets: hashBucketsOf(stream, props),
  };
}

/**
 * The record size limit of a function that writes to a stream, in bytes: the limit that the function is given, else that of the
 * stream, as far as the template says it by now. The template may say so until the app is synthesized.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the template says that the stream has a smaller limit. Kinesis
 *   would reject a record between the two limits
 */
function recordLimitBytes(
  scope: IConstruct,
  stream: kinesis.IStreamRef,
  bytes: number | undefined,
): number | undefined {
  const ofStream = streamLimit(stream);
  if (bytes === undefined) return ofStream;
  const field = constructField(scope, 'maxRecordSize');
  checkWithin(field, bytes, stream, ofStream);
  scope.node.addValidation({
    validate: () =>
      problemsOf(() => checkWithin(field, bytes, stream, streamLimit(stream, MIN_RECORD_LIMIT.toBytes()))),
  });
  return bytes;
}

function checkWithin(field: string, bytes: number, stream: kinesis.IStreamRef, limit: number | undefined): void {
  if (limit === undefined || Token.isUnresolved(bytes) || bytes <= limit) return;
  throw new InvalidArgumentError(
    field,
    `${bytes} bytes`,
    `at most ${limit} bytes, the limit of the stream ${stream.node.path}: increase its maxRecordSize, too`,
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
 */
function hashBucketsOf(stream: kinesis.IStreamRef, props: Props<OrderedStreamProps>): number | undefined {
  const { hashBuckets: ofStream } = agreedByProducers(stream);
  const hashBuckets = possibleHashBuckets(props);
  if (hashBuckets === undefined) return ofStream;
  if (ofStream === undefined || hashBuckets === ofStream) return hashBuckets;
  throw props.refusal('hashBuckets', hashBuckets, `absent, or the ${ofStream} of the stream`);
}

/** @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a number that no hash buckets can have */
export function possibleHashBuckets(props: Props<Pick<OrderedStreamProps, 'hashBuckets'>>): number | undefined {
  const hashBuckets = props.known('hashBuckets', 'a power of two');
  if (hashBuckets !== undefined) checkHashBuckets(props.field('hashBuckets'), hashBuckets);
  return hashBuckets;
}
