import { Token } from 'aws-cdk-lib';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { checkOwnEnvironment, constructField } from '../construct/props';
import { checkAtSynthesis } from '../construct/synthesis-check';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkStreamShardCount } from '../core/sharding/shard-count';
import { checkHashBuckets } from '../core/stream-format/hash-buckets';
import { recordLimitBytes } from './record-size-limit';
import { sharedProducerSettings, streamProperties } from './stream-properties';

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
  checkAtSynthesis(scope, check);
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

/** The checked settings of an ordered producer that depend on its stream. */
export interface OrderedStreamSettings {
  readonly stream: kinesis.IStreamRef;
  readonly maxRecordBytes?: number;
  readonly hashBuckets?: number;
}

/** The settings of an ordered producer that must match its stream. Numbers may be tokens. */
type OwnSettings = Omit<OrderedStreamSettings, 'stream'>;

/**
 * Checks the stream of an ordered producer, and the settings that must match the stream.
 *
 * @param property the name of the property that contains the stream
 * @throws InvalidArgumentError with the code `INVALID_ARGUMENT`
 */
export function orderedStreamSettings(
  scope: IConstruct,
  property: string,
  stream: kinesis.IStreamRef,
  own: OwnSettings,
): OrderedStreamSettings {
  return {
    stream: orderedStream(scope, stream, property),
    hashBuckets: hashBucketsOf(scope, stream, own.hashBuckets),
    maxRecordBytes: recordLimitBytes(scope, stream, own.maxRecordBytes),
  };
}

/**
 * The number of hash buckets for an ordered producer: the number of the stream, or the producer's own number if the
 * stream has no number. All producers of a key must use the same number, so these two numbers must be equal.
 */
function hashBucketsOf(
  scope: IConstruct,
  stream: kinesis.IStreamRef,
  hashBuckets: number | undefined,
): number | undefined {
  const { hashBuckets: ofStream } = sharedProducerSettings(stream);
  if (hashBuckets === undefined) return ofStream;
  const field = constructField(scope, 'hashBuckets');
  checkHashBuckets(field, hashBuckets);
  if (ofStream === undefined || hashBuckets === ofStream) return hashBuckets;
  throw new InvalidArgumentError(field, hashBuckets, `absent, or ${ofStream} (the hashBuckets of the stream)`);
}
