import { Size, Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { checkOwnEnvironment, constructField, Props, problemsOf } from '../construct/props';
import { InvalidArgumentError } from '../core/kernel/errors';
import { MAX_RECORD_LIMIT_BYTES } from '../core/producer/producer-record';
import { checkStreamShardCount } from '../core/sharding/shard-count';
import { checkHashBuckets } from '../core/stream-format/hash-buckets';
import { resourceOf, sharedProducerSettings, streamProperties } from './stream-properties';

/**
 * Returns the stream of an ordered producer after checks. The stream must be in the account and region of the
 * construct, and must use partition keys. Synthesis repeats the check, because an escape hatch can change the stream
 * after this call.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function orderedStream(scope: IConstruct, stream: kinesis.IStreamRef, property = 'stream'): kinesis.IStreamRef {
  requireStream(scope, property, stream);
  checkOwnEnvironment(scope, property, 'a stream', stream);
  const check = () => checkRecordDistribution(constructField(scope, property), stream);
  check();
  scope.node.addValidation({ validate: () => problemsOf(check) });
  return stream;
}

/** @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the stream is absent, as it can be in JavaScript */
function requireStream(scope: IConstruct, property: string, stream: kinesis.IStreamRef | undefined): void {
  if (stream === undefined) throw new InvalidArgumentError(constructField(scope, property), stream, 'a stream');
}

/**
 * Returns the stream that a construct scales or reshards, after checks. The stream must be in the account and region of
 * the construct, and in provisioned mode.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function provisionedStream(scope: IConstruct, stream: kinesis.IStreamRef): kinesis.IStreamRef {
  requireStream(scope, 'stream', stream);
  checkOwnEnvironment(scope, 'stream', 'a stream', stream);
  checkProvisioned(constructField(scope, 'stream'), stream);
  return stream;
}

/**
 * Returns a shard count after a check that a stream can have this count. An unresolved token is not checked.
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
 * Checks that a stream is in provisioned mode, because Kinesis chooses the shards in on-demand mode. An imported stream
 * is not checked here. The Lambda functions check the mode before they change a stream.
 */
function checkProvisioned(field: string, stream: kinesis.IStreamRef): void {
  const mode = streamProperties(stream).StreamModeDetails?.StreamMode;
  if (mode !== 'ON_DEMAND') return;
  throw new InvalidArgumentError(
    `${field}.streamMode`,
    mode,
    'PROVISIONED (in on-demand mode Kinesis chooses the shards, and with record distribution AUTO it ignores partition keys and ' +
      'explicit hash keys)',
  );
}

/**
 * Checks that Kinesis distributes records by partition key or explicit hash key. With the strategy `AUTO`, Kinesis
 * distributes the records itself.
 *
 * An imported stream is not checked here. With the strategy `AUTO`, Kinesis accepts records and ignores their keys (it
 * only rejects a PutRecord with `SequenceNumberForOrdering`). So the producer checks the strategy of the stream when it
 * runs.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/service-managed-record-distribution.html
 */
function checkRecordDistribution(field: string, stream: kinesis.IStreamRef): void {
  const { RecordDistributionStrategy: strategy } = streamProperties(stream);
  if (strategy !== 'AUTO') return;
  throw new InvalidArgumentError(
    `${field}.recordDistributionStrategy`,
    strategy,
    'USER_PARTITION_KEY (with AUTO, Kinesis ignores partition keys and explicit hash keys and keeps no order)',
  );
}

/** The bounds of a stream's record size limit. Source: the Kinesis API reference, UpdateMaxRecordSize. */
const MIN_RECORD_LIMIT = Size.mebibytes(1);
const RECORD_LIMITS = { min: MIN_RECORD_LIMIT, max: Size.bytes(MAX_RECORD_LIMIT_BYTES) };

/**
 * The record size limit of a stream, in KiB.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the limit is out of bounds
 */
export function maxRecordKibibytes(scope: IConstruct, given: { readonly maxRecordSize?: Size }): number | undefined {
  return Props.of(scope, given).kibibytes('maxRecordSize', RECORD_LIMITS);
}

/** The checked settings of an ordered producer that depend on its stream. */
export interface OrderedStreamSettings {
  readonly stream: kinesis.IStreamRef;
  readonly maxRecordBytes?: number;
  readonly hashBuckets?: number;
}

/** The properties of an ordered producer that must match its stream. */
interface OrderedStreamProps {
  readonly maxRecordSize?: Size;
  readonly hashBuckets?: number;
}

/**
 * Checks the stream of an ordered producer, and the properties that must match the stream.
 *
 * @param property the name of the property that contains the stream
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
 * The record size limit of a function in bytes: `bytes` if it is defined, otherwise the limit of the stream. An escape
 * hatch can change the limit of the stream later, so synthesis repeats the check.
 *
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` if the stream has a smaller limit, because Kinesis
 *   would reject a record whose size is between the two limits
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

/**
 * The number of hash buckets for an ordered producer: the number of the stream, or the producer's own number if the
 * stream has no number. All producers of a key must use the same number, so these two numbers must be equal.
 */
function hashBucketsOf(stream: kinesis.IStreamRef, props: Props<OrderedStreamProps>): number | undefined {
  const { hashBuckets: ofStream } = sharedProducerSettings(stream);
  const hashBuckets = possibleHashBuckets(props);
  if (hashBuckets === undefined) return ofStream;
  if (ofStream === undefined || hashBuckets === ofStream) return hashBuckets;
  throw props.refusal('hashBuckets', hashBuckets, `absent, or ${ofStream} (the hashBuckets of the stream)`);
}

/**
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT` for a number that is not a power of two from 2 to
 *   65,536
 */
export function possibleHashBuckets(props: Props<Pick<OrderedStreamProps, 'hashBuckets'>>): number | undefined {
  const hashBuckets = props.resolved('hashBuckets', 'a power of two');
  if (hashBuckets !== undefined) checkHashBuckets(props.field('hashBuckets'), hashBuckets);
  return hashBuckets;
}
