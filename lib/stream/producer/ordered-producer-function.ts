import { Duration, type Size, Token, TokenComparison } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkedArn, checkOwnEnvironment, constructField, Props } from '../../construct/props';
import {
  AGGREGATION,
  ALLOCATE_HASH_KEYS,
  HASH_BUCKETS,
  LINGER_MS,
  MAX_RECORD_BYTES,
  REGISTRY_FUNCTION_NAME,
  REQUEST_TIMEOUT_MS,
  SEQUENCE,
  STREAM_NAME,
} from '../../core/contract/function-environment';
import { PRODUCER_METRICS, REASON_DIMENSION } from '../../core/contract/function-metrics';
import { RESERVED_MS } from '../../core/contract/reserved-time';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import {
  addBundledFunction,
  BundledFunctionBase,
  type BundledFunctionOptions,
  type IBundledFunction,
  MAX_TIMEOUT,
  oneSecondBefore,
} from '../../function/bundled-function';
import { RECORD_LIMITS } from '../record-size-limit';
import type { IHashKeyRegistry } from '../registry/hash-key-registry';
import { type OrderedStreamSettings, orderedStreamSettings } from '../stream-checks';
import { StreamProduceGrants } from '../stream-grants';
import { resourceOf } from '../stream-properties';
import { ProducerFifoQueue, type ProducerFifoQueueOptions } from './producer-fifo-queue';
import { ORDERED_PRODUCER_METRICS } from './producer-metrics';
import { followTableStream, type ProducerTableStreamOptions } from './table-stream-source';

/**
 * An ordered producer, defined in this app or imported by `OrderedProducerFunction.fromFunctionArn`. Its metrics are in
 * the namespace `EvenShards` and have the names of the Kinesis Producer Library, such as `UserRecordsPut`.
 */
export interface IOrderedProducerFunction extends IBundledFunction {}

/**
 * The metrics that a producer of this app and an imported producer share.
 *
 * @internal
 */
abstract class OrderedProducerFunctionBase extends BundledFunctionBase implements IOrderedProducerFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = ORDERED_PRODUCER_METRICS;

  /**
   * Records that the function received from callers and event sources.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricUserRecordsReceived(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsReceived, props);
  }

  /**
   * Records that the stream stored.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricUserRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsPut, props);
  }

  /**
   * Records that the function gave up, because Kinesis rejected them, because the function had no time to send them, or
   * because a message of a queue or a table was malformed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricUserRecordsFailed(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsFailed, props);
  }

  /**
   * Records that the function gave up for one reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param reason the code of the error, such as `RECORD_REJECTED`, `OUT_OF_TIME` or `INVALID_EVENT`
   * @param props the statistic, period, label and color of the metric
   */
  public metricUserRecordsFailedByReason(reason: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const metric = this.metric(PRODUCER_METRICS.failuresByReason, props);
    return metric.with({ dimensionsMap: { ...metric.dimensions, [REASON_DIMENSION]: reason } });
  }

  /**
   * Request entries that Kinesis did not store, mostly because of throttling. The function sends them again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricAllErrors(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.allErrors, props);
  }

  /**
   * How often the function sent a record again before the stream stored it.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRetriesPerRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.retriesPerRecord, props);
  }

  /**
   * The duration of requests to Kinesis, in milliseconds.
   *
   * 99th percentile over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRequestTime(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.requestTime, props);
  }
}

/** Properties of an `OrderedProducerFunction`. */
export interface OrderedProducerFunctionProps extends BundledFunctionOptions {
  /**
   * The stream to write to: a `kinesis.Stream` or a `kinesis.CfnStream`, defined in this app or imported, in the
   * account and region of the function. If a `CfnStream` has a customer-managed key, grant the function permission on
   * the key yourself. A stream with the record distribution strategy `AUTO` is rejected, because it ignores partition
   * keys and explicit hash keys and keeps no order.
   */
  readonly stream: kinesis.IStreamRef;

  /**
   * The size limit of a record, including its partition key: 1 MiB to 10 MiB, and at most the `maxRecordSize` of the
   * stream. The function rejects a larger record without sending it. Set this limit if synthesis does not know the
   * limit of the stream: for an imported `kinesis.Stream`, or if the limit is a token.
   *
   * @default - the limit of the stream, if the stream is defined in this app or is an `IUniformStream`; otherwise 1 MiB
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateMaxRecordSize.html
   */
  readonly maxRecordSize?: Size;

  /**
   * Whether consecutive records of a partition key in one invocation share a Kinesis record, in the format of the
   * Kinesis Producer Library. A key with many records then has a much higher throughput, at a lower price. Consumers
   * must separate the records, with `deaggregate` of `cdk-even-shards/consumer` or with the Kinesis Client Library.
   * Lambda does not separate them.
   *
   * @default false
   */
  readonly aggregation?: boolean;

  /**
   * Whether records with different partition keys in the same hash bucket also share a Kinesis record. Use it for many
   * keys with small records. It includes `aggregation`, and consumers must separate the records in the same way.
   *
   * @default false
   */
  readonly aggregationAcrossKeys?: boolean;

  /**
   * How long a record may wait for other records that can share its Kinesis record. It requires
   * `aggregationAcrossKeys`. It must be less than `timeout` minus 1 second, because the function sends nothing in the
   * last second of an invocation.
   *
   * @default - a record does not wait for records that arrive later
   */
  readonly linger?: Duration;

  /**
   * The number of hash buckets of the stream: a power of two from 2 to 65,536. The function sends a record without an
   * explicit hash key to the centre of its key's bucket. An `IUniformStream` has its own `hashBuckets`. All producers
   * of a key must use the same number.
   *
   * @default - the `hashBuckets` of the stream. If the stream has no `hashBuckets`: 256 with `aggregationAcrossKeys`;
   *   otherwise the MD5 of a partition key decides its shard
   */
  readonly hashBuckets?: number;

  /**
   * The time limit of a request to Kinesis, including its response: 1 millisecond to 15 minutes. After this time the
   * function aborts the request and sends its records again.
   *
   * @default - 6 seconds
   */
  readonly requestTimeout?: Duration;

  /**
   * Whether records are sequenced, so that an `OrderedConsumer` of `cdk-even-shards/consumer` can drop duplicates and
   * process each record once, in the order of its key. A record is duplicated if a response of Kinesis is lost, or if
   * Lambda delivers a written record to the function again.
   *
   * Records of a table's stream, and of a FIFO queue whose message group is the partition key, have the sequence number
   * of their source. So a consumer recognises every duplicate of these records. The function numbers other records
   * itself in each invocation. If a second invocation contains the same records, consumers treat them as new records.
   *
   * A sequenced record has the format of `aggregation`, even if it is alone in its Kinesis record. This adds about 100
   * bytes and the length of the partition key.
   *
   * @default false
   */
  readonly sequence?: boolean;

  /**
   * A registry of the same stream, defined in this app or imported, in the account and region of the function. A record
   * can then have a `hashKeyOwner`, such as its account, instead of an explicit hash key. The function sends the record
   * with the hash key of its owner, so the owners are spread evenly over the shards.
   *
   * The function caches keys for a minute. So after the registry moves an owner to another hash key, records of the
   * owner may go to the old shard for up to a minute.
   *
   * @default - the function rejects records with a `hashKeyOwner`
   */
  readonly hashKeyRegistry?: IHashKeyRegistry;

  /**
   * Whether the function allocates a key for an owner that is not in the registry. If false, the function rejects the
   * records of such an owner, so allocate a key when you create an owner.
   *
   * @default true
   */
  readonly allocateHashKeys?: boolean;

  /**
   * The timeout of an invocation. It must be long enough for the retries of a throttled stream. A queue that you add as
   * an event source yourself needs a visibility timeout of six times this timeout.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default - 512, enough for several representations of the largest event (6 MB): raw, parsed, encoded and in flight
   */
  readonly memorySize?: number;
}

/**
 * A function that writes records to a Kinesis stream in bulk. Within an invocation, it keeps the order of every
 * partition key, even if requests fail partially.
 *
 * Use it if callers should not handle partial failures themselves. Invoke it with `{ "records": [{ "partitionKey",
 * "data" }] }`, add a FIFO queue (`addFifoQueue`), or add the stream of a DynamoDB table (`addTableStream`). The
 * function has its own role, which only allows writing to this stream and to the log group. Its metrics are in the
 * namespace `EvenShards`, have the names of the Kinesis Producer Library, and have the dimension `FunctionName`.
 *
 * Records of concurrent invocations have no order. To keep the order of a key across invocations, wait for each
 * response before the next invocation. Or use a FIFO queue or a DynamoDB stream: they deliver one batch of a key at a
 * time. A standard queue does not keep this order.
 *
 * An event source that you add yourself needs `reportBatchItemFailures`, so that Lambda delivers only failed records
 * again. It also needs a destination for records that always fail, such as the dead-letter queue of a standard queue.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 * @throws an error with the code `INVALID_ARGUMENT` if the stream's record distribution strategy is `AUTO` (at
 *   synthesis if the strategy is set later), or if the record size limit is out of bounds
 * @throws an error with the code `INVALID_ARGUMENT` if the stream or the registry is known to be in another account or
 *   region, or if the registry is known to be of another stream
 *
 * @exampleMetadata fixture=app
 * @example
 * const producer = new OrderedProducerFunction(stack, 'Producer', { stream, aggregation: true });
 * producer.addFifoQueue('Queue').queue.grantSendMessages(application);
 */
export class OrderedProducerFunction extends OrderedProducerFunctionBase implements IOrderedProducerFunction {
  /**
   * Imports an existing producer of another app by its ARN, to read its metrics and to grant its invocation. The import
   * does not create, change or look up resources.
   *
   * The role of the producer is unknown. So CDK warns or throws if you grant permissions to the producer. To import the
   * role too, use `fromFunctionAttributes`.
   *
   * @param scope the construct to add the producer to, usually `this`
   * @param id the producer's name within the scope
   * @param functionArn the ARN of its function: `functionArn` in the app that defines the producer
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IOrderedProducerFunction {
    return new ImportedOrderedProducerFunction(scope, id, { functionArn });
  }

  /**
   * Imports an existing producer of another app, with its role and its security group. Grants add permissions to the
   * role if the role is in this account and is mutable. Connections use the security group.
   *
   * @param scope the construct to add the producer to, usually `this`
   * @param id the producer's name within the scope
   * @param attributes the attributes of the function, for `lambda.Function.fromFunctionAttributes`
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IOrderedProducerFunction {
    return new ImportedOrderedProducerFunction(scope, id, attributes);
  }

  /** The function. Use it to invoke the function, to grant its invocation, or to add an event source. */
  public readonly function: lambda.Function;

  /**
   * Creates a function with its own role and log group.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the stream to write to, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: OrderedProducerFunctionProps) {
    super(scope, id);
    guardDeployment(this);
    const settings = producerSettings(this, props);
    const { stream, registry, allocatesHashKeys } = settings;
    this.function = addBundledFunction(
      this,
      {
        bundle: 'producer',
        description: 'Writes records to a Kinesis stream, in order per partition key',
        environment: {
          [STREAM_NAME]: stream.streamRef.streamName,
          [MAX_RECORD_BYTES]: settings.maxRecordBytes,
          [AGGREGATION]: settings.aggregation,
          [HASH_BUCKETS]: settings.hashBuckets,
          [LINGER_MS]: settings.lingerMs,
          [REQUEST_TIMEOUT_MS]: settings.requestTimeoutMs,
          [SEQUENCE]: settings.sequence,
          [REGISTRY_FUNCTION_NAME]: registry?.functionName,
          [ALLOCATE_HASH_KEYS]: registry && allocatesHashKeys,
        },
        timeout: Duration.minutes(1),
        minTimeout: oneSecondBefore(RESERVED_MS.producer),
        memorySize: 512,
      },
      props,
    );
    checkLinger(this, settings, this.function.timeout!);
    StreamProduceGrants.fromStream(stream).produce(this.function);
    if (registry === undefined) return;
    if (allocatesHashKeys) registry.grants.allocate(this.function);
    else registry.grants.query(this.function);
    // The function invokes an alias of the registry, but the resource of the function does not refer to this alias. So
    // add the dependency here.
    this.function.node.addDependency(registry);
  }

  /**
   * Adds a FIFO queue in front of the function, with a dead-letter queue. Use it for callers that send a record and do not wait
   * for a response. A key then keeps its order across invocations. The message group is the partition key.
   *
   * @param id the queue's name within the function's scope
   * @param props the settings of the queues, such as the maximum receive count
   * @throws an error with the code `INVALID_ARGUMENT` if the maximum receive count, the maximum concurrency or the visibility
   *   timeout is out of bounds
   */
  public addFifoQueue(id: string, props: ProducerFifoQueueOptions = {}): ProducerFifoQueue {
    return ProducerFifoQueue._add(this, id, this.function, props);
  }

  /**
   * Adds the stream of a DynamoDB table as an event source. The function writes each change of an item as a record, in the
   * order of the changes. The partition key of the record is the key of the item, and its data is the change as DynamoDB wrote
   * it.
   *
   * Lambda delivers a failed change and all later changes of the batch again. The function may then write some of these changes
   * twice. With `sequence`, consumers recognise these duplicates. A change that is larger than the record size limit of the
   * stream always fails, so increase `maxRecordSize` for large items.
   *
   * @param props the table, and the settings of the event source mapping
   * @returns the event source mapping, with its id, its ARN, and its metrics
   * @throws an error with the code `INVALID_ARGUMENT` if an option is out of bounds, or if the table has no stream (for a
   *   `TableV2`, at synthesis)
   */
  public addTableStream(props: ProducerTableStreamOptions): lambda.EventSourceMapping {
    return followTableStream(this, this.function, props);
  }
}

/** An ordered producer of another app. The import adds nothing to the template. */
class ImportedOrderedProducerFunction extends OrderedProducerFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    checkedArn(constructField(this, 'functionArn'), attributes.functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}

/** The checked properties of a producer, with defaults. Numbers may be tokens. */
interface ProducerSettings extends OrderedStreamSettings {
  readonly aggregation?: 'true' | 'packed';
  readonly lingerMs?: number;
  readonly requestTimeoutMs?: number;
  readonly sequence?: true;
  readonly registry?: IHashKeyRegistry;
  readonly allocatesHashKeys: boolean;
}

function producerSettings(producer: IConstruct, given: OrderedProducerFunctionProps): ProducerSettings {
  const {
    stream,
    aggregation,
    aggregationAcrossKeys,
    linger,
    sequence,
    hashKeyRegistry,
    allocateHashKeys = true,
  } = given;
  const props = Props.of(producer, given);
  if (linger !== undefined && !aggregationAcrossKeys)
    throw props.refusal('linger', linger.toString(), 'absent without aggregationAcrossKeys');
  if (hashKeyRegistry === undefined && given.allocateHashKeys !== undefined) {
    throw props.refusal('allocateHashKeys', given.allocateHashKeys, 'absent without a hashKeyRegistry');
  }
  if (hashKeyRegistry !== undefined) checkRegistry(producer, hashKeyRegistry, stream);
  const maxRecordBytes = props.bytes('maxRecordSize', RECORD_LIMITS);
  const hashBuckets = props.resolved('hashBuckets', 'a power of two');
  return {
    ...orderedStreamSettings(producer, 'stream', stream, { maxRecordBytes, hashBuckets }),
    aggregation: aggregationAcrossKeys ? 'packed' : aggregation ? 'true' : undefined,
    lingerMs: props.milliseconds('linger'),
    requestTimeoutMs: props.milliseconds('requestTimeout', { min: Duration.millis(1), max: MAX_TIMEOUT }),
    sequence: sequence || undefined,
    registry: hashKeyRegistry,
    allocatesHashKeys: allocateHashKeys,
  };
}

/**
 * Checks that `linger` ends before the last second of an invocation, in which the function sends nothing. With a longer
 * `linger`, the function would report the records of every partly filled aggregate as not sent. The check needs the
 * timeout of the created function, because a blueprint may have set it.
 */
function checkLinger(producer: IConstruct, { lingerMs }: ProducerSettings, timeout: Duration): void {
  if (lingerMs === undefined || Token.isUnresolved(lingerMs) || timeout.isUnresolved()) return;
  const mostMs = timeout.toMilliseconds() - RESERVED_MS.producer;
  if (lingerMs < mostMs) return;
  const allowed = `less than ${mostMs} ms, which is timeout less ${RESERVED_MS.producer} ms`;
  throw new InvalidArgumentError(constructField(producer, 'linger'), `${lingerMs} ms`, allowed);
}

/**
 * Checks that the registry belongs to the stream of the producer. The keys of a registry are balanced only for the
 * shards of its own stream.
 */
function checkRegistry(producer: IConstruct, registry: IHashKeyRegistry, stream: kinesis.IStreamRef): void {
  checkOwnEnvironment(producer, 'hashKeyRegistry', 'a registry', registry);
  if (!areDifferentStreams(registry.stream, stream)) return;
  const allowed = `a registry of the stream ${nameOf(stream)}`;
  throw new InvalidArgumentError(constructField(producer, 'hashKeyRegistry'), nameOf(registry.stream), allowed);
}

/**
 * Whether two constructs certainly represent different streams. Compares streams of this app by their resources, and
 * imported streams by their names.
 */
function areDifferentStreams(a: kinesis.IStreamRef, b: kinesis.IStreamRef): boolean {
  const [resourceOfA, resourceOfB] = [resourceOf(a), resourceOf(b)];
  if (resourceOfA !== undefined && resourceOfB !== undefined) return resourceOfA !== resourceOfB;
  return Token.compareStrings(a.streamRef.streamName, b.streamRef.streamName) === TokenComparison.DIFFERENT;
}

function nameOf({ streamRef: { streamName }, node }: kinesis.IStreamRef): string {
  return Token.isUnresolved(streamName) ? node.path : streamName;
}
