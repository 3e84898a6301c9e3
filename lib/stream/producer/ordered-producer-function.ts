import { Duration, type Size, Token, TokenComparison } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import type { MetricFamily } from '../../construct/metric-definition';
import { checkOwnEnvironment, constructField, Props } from '../../construct/props';
import {
  AGGREGATION,
  ALLOCATE_HASH_KEYS,
  HASH_BUCKETS,
  LINGER_MS,
  MAX_RECORD_BYTES,
  PRODUCER_LAST_SEND_MS,
  REGISTRY_FUNCTION_NAME,
  REQUEST_TIMEOUT_MS,
  SEQUENCE,
  STREAM_NAME,
} from '../../core/contract/function-environment';
import { PRODUCER_METRICS, REASON_DIMENSION } from '../../core/contract/function-metrics';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import {
  addBundledFunction,
  BundledFunctionBase,
  type BundledFunctionOptions,
  type IBundledFunction,
} from '../../function/bundled-function';
import type { IHashKeyRegistry } from '../registry/hash-key-registry';
import { type OrderedStreamSettings, orderedStreamSettings } from '../stream-checks';
import { StreamProduceGrants } from '../stream-grants';
import { resourceOf } from '../stream-properties';
import { ProducerFifoQueue, type ProducerFifoQueueOptions } from './producer-fifo-queue';
import { ORDERED_PRODUCER_METRICS } from './producer-metrics';
import { followTableStream, type ProducerTableStreamOptions } from './table-stream-source';

/**
 * An ordered producer, of this app or imported by `OrderedProducerFunction.fromFunctionArn`. Its metrics are in the
 * namespace `EvenShards`, in the vocabulary of the Kinesis Producer Library, such as `UserRecordsPut`.
 */
export interface IOrderedProducerFunction extends IBundledFunction {}

/**
 * What every ordered producer has, of this app or imported: the metrics that it writes of its work.
 *
 * @internal
 */
abstract class OrderedProducerFunctionBase extends BundledFunctionBase implements IOrderedProducerFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = ORDERED_PRODUCER_METRICS;

  /**
   * Records that callers and event sources have handed over.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricUserRecordsReceived(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsReceived, props);
  }

  /**
   * Records that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricUserRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsPut, props);
  }

  /**
   * Records that were given up: rejected by Kinesis, still unsent when the time was up, or unreadable in the message
   * of a queue or a table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricUserRecordsFailed(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsFailed, props);
  }

  /**
   * Records that were given up for one reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param reason the code of the error, such as `RECORD_REJECTED`, `OUT_OF_TIME` or `INVALID_EVENT`
   * @param props its statistic, period, label and color
   */
  public metricUserRecordsFailedByReason(reason: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const metric = this.metric(PRODUCER_METRICS.failuresByReason, props);
    return metric.with({ dimensionsMap: { ...metric.dimensions, [REASON_DIMENSION]: reason } });
  }

  /**
   * Entries of requests that Kinesis has not taken at once, throttled ones most of all. They are sent again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricAllErrors(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.allErrors, props);
  }

  /**
   * How often a record was sent again before it was in the stream.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRetriesPerRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.retriesPerRecord, props);
  }

  /**
   * How long requests to Kinesis take, in milliseconds.
   *
   * 99th percentile over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRequestTime(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.requestTime, props);
  }
}

/** Properties of an `OrderedProducerFunction`. */
export interface OrderedProducerFunctionProps extends BundledFunctionOptions {
  /**
   * The stream to write to, of this app or imported. The function looks it up by its name, so it is in the function's own
   * account and region. It is a `kinesis.Stream`, or a `kinesis.CfnStream`; on the customer-managed key of a `CfnStream`,
   * allow the function yourself. A stream with the record distribution strategy `AUTO` is rejected: it ignores partition
   * keys and explicit hash keys, so no order can be kept.
   */
  readonly stream: kinesis.IStreamRef;

  /**
   * The size limit of a record, its partition key included: 1 MiB to 10 MiB, and at most the `maxRecordSize` of the
   * stream. The function rejects a larger record without sending it. Give it where the
   * stream does not say its limit: for a `kinesis.Stream` that is imported, or where the limit of the stream is a token.
   *
   * @default - the limit of the stream if it is of this app, or an `IUniformStream`; else 1 MiB
   * @see https://docs.aws.amazon.com/kinesis/latest/APIReference/API_UpdateMaxRecordSize.html
   */
  readonly maxRecordSize?: Size;

  /**
   * Whether consecutive records of a partition key, put by one invocation, share one Kinesis record, in
   * the format of the Kinesis Producer Library. A key with many records then moves many times as fast, and they cost
   * less. Consumers must take records apart again, with `deaggregate` of `cdk-even-shards/consumer` or the Kinesis Client
   * Library; Lambda does not by itself.
   *
   * @default false
   */
  readonly aggregation?: boolean;

  /**
   * Whether records of many partition keys of one hash bucket share a Kinesis record, too, for many keys with small
   * records. It includes `aggregation`. Consumers must take records apart in the same way.
   *
   * @default false
   */
  readonly aggregationAcrossKeys?: boolean;

  /**
   * How long a record may wait for others to share a Kinesis record with. With `aggregationAcrossKeys` only. Less than `timeout` less
   * 1 second: the function sends nothing in the last second of an invocation.
   *
   * @default - a record does not wait: it is sent with those that are there
   */
  readonly linger?: Duration;

  /**
   * How many hash buckets the stream has: a power of two from 2 to 65,536. A record without an explicit hash key goes to
   * the centre of its key's bucket. An `IUniformStream` has a `hashBuckets` of its own. All producers of a key must agree on it.
   *
   * @default - the `hashBuckets` of the stream. If it has none, 256 with `aggregationAcrossKeys`; without `aggregationAcrossKeys`, the MD5 of a
   *   partition key decides its shard
   */
  readonly hashBuckets?: number;

  /**
   * How long a request to Kinesis may take, to the end of its answer. The function then gives it up and sends its records
   * again.
   *
   * @default - 6 seconds
   */
  readonly requestTimeout?: Duration;

  /**
   * Whether records are sequenced, so that an `OrderedConsumer` of `cdk-even-shards/consumer` can drop duplicates and process each
   * record once, in the order of its key. A duplicate comes about when a response of Kinesis is lost, and when
   * Lambda delivers again what was written. A record of a FIFO queue whose partition key is its message group, or of a
   * table's stream, has the number that its source gave it, so that it is known however often it is delivered. Other
   * records get their numbers from the invocation: a second invocation with them writes them as new ones.
   *
   * The number needs the same format that `aggregation` does, even around a single record: some 100 bytes and the
   * partition key more.
   *
   * @default false
   */
  readonly sequence?: boolean;

  /**
   * A registry of the same stream, of this app or imported, in the function's own account and region. A record can then name a `hashKeyOwner`, such as its account, in place of an explicit
   * hash key: it gets the owner's key, and with it a shard that no other owner makes busier than its share.
   *
   * Keys are remembered for a minute. When an owner is moved to another key, its records may go to the old shard for as
   * long.
   *
   * @default - records with a `hashKeyOwner` are rejected
   */
  readonly hashKeyRegistry?: IHashKeyRegistry;

  /**
   * Whether an owner that the registry does not know gets a key when it is first seen. If not, the records of such an
   * owner are rejected: allocate keys to owners when you set them up.
   *
   * @default true
   */
  readonly allocateHashKeys?: boolean;

  /**
   * How long one invocation may take. It must outlast the retries of a throttled stream; a queue that you add
   * as an event source yourself needs a visibility timeout six times as long.
   *
   * @default - 1 minute
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default - 512, room for the largest event (6 MB) several times over: as it came, parsed, encoded and in flight
   */
  readonly memorySize?: number;
}

/**
 * A function that writes records to a Kinesis stream in bulk and, within one invocation, keeps the order of every
 * partition key through every partial failure.
 *
 * Use it where callers should not have to handle partial failures: invoke it with `{ "records": [{ "partitionKey", "data"
 * }] }`, put a FIFO queue before it (`addFifoQueue`), or let it follow a DynamoDB table (`addTableStream`). It comes with a
 * role of its own that can write to this stream and to its log group, and nothing else. It writes metrics of the namespace
 * `EvenShards`, in the vocabulary of the Kinesis Producer Library, with the dimension `FunctionName`.
 *
 * Invocations that run at the same time have no order between them. Where a key must keep its order across invocations,
 * wait for the answer of one before invoking the next, or use a FIFO queue or a DynamoDB stream, which deliver one
 * batch of a key at a time; a standard queue does not.
 *
 * An event source that you add yourself needs `reportBatchItemFailures`, so that only what failed is delivered again,
 * and a place for what keeps failing: a standard queue its own dead-letter queue.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
 * @throws an error with the code `INVALID_ARGUMENT` if the stream's record distribution strategy is `AUTO`, when it is
 *   constructed or, if that is set later, when the app is synthesized; if the stream is known to be in another account or
 *   region; if no stream can have the record size limit; and if the registry is known to be another stream's,
 *   or in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * const producer = new OrderedProducerFunction(stack, 'Producer', { stream, aggregation: true });
 * producer.addFifoQueue('Queue').queue.grantSendMessages(application);
 */
export class OrderedProducerFunction extends OrderedProducerFunctionBase implements IOrderedProducerFunction {
  /**
   * Imports a producer that exists, of another app, by its ARN: to watch it, and to allow its invocation. Nothing is
   * created, changed or looked up.
   *
   * Its role is unknown, so CDK warns of what is granted to it, or refuses: see `fromFunctionAttributes`.
   *
   * @param scope the construct to add the producer to, usually `this`
   * @param id the producer's name within the scope
   * @param functionArn the ARN of its function: `functionArn` in the app that has it
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IOrderedProducerFunction {
    return new ImportedOrderedProducerFunction(scope, id, { functionArn });
  }

  /**
   * Imports a producer that exists, of another app, with its role and its security group: what is granted to it is added
   * to that role, if the role is of this account and may be changed, and connections are made through that group.
   *
   * @param scope the construct to add the producer to, usually `this`
   * @param id the producer's name within the scope
   * @param attributes the function, as `lambda.Function.fromFunctionAttributes` takes it
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IOrderedProducerFunction {
    return new ImportedOrderedProducerFunction(scope, id, attributes);
  }

  /** The function: to invoke it, grant its invocation, or add an event source. */
  public readonly function: lambda.Function;

  /**
   * A function with a role and a log group of its own.
   *
   * @param scope the construct to add the function to, usually `this`
   * @param id the function's name within the scope
   * @param props the stream to write to, and how to run
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
        memorySize: 512,
      },
      props,
    );
    checkLinger(this, settings, this.function.timeout!);
    StreamProduceGrants.fromStream(stream).produce(this.function);
    if (registry === undefined) return;
    if (allocatesHashKeys) registry.grants.allocate(this.function);
    else registry.grants.query(this.function);
    // The function invokes an alias of the registry, which nothing in its template refers to.
    this.function.node.addDependency(registry);
  }

  /**
   * Puts a FIFO queue before the function, with a dead-letter queue. Use it for callers that send a record and do not wait
   * for an answer. The order of a key then holds across invocations. The message group is the partition key.
   *
   * @param id the queue's name within the function's scope
   * @param props when a message is given up, and how it is kept
   * @throws an error with the code `INVALID_ARGUMENT` if the maximum receive count, the maximum concurrency or the
   *   visibility timeout is out of bounds
   */
  public addFifoQueue(id: string, props: ProducerFifoQueueOptions = {}): ProducerFifoQueue {
    return ProducerFifoQueue._add(this, id, this.function, props);
  }

  /**
   * Lets the function follow a DynamoDB table: each change of an item becomes a record, keyed by the item's key, its
   * data the change as DynamoDB wrote it, in the order of the item.
   *
   * A change that fails is delivered again, and so are all changes behind it. Some of these were written before, and are then
   * written twice; with `sequence`, consumers can tell. A change that is larger than the stream takes never succeeds: increase
   * `maxRecordSize` where items are large.
   *
   * @param props the table, and when a change is given up
   * @returns the event source mapping: for its id, its ARN, and its metrics
   * @throws an error with the code `INVALID_ARGUMENT` if the table's stream is off, for a `TableV2` when the app is
   *   synthesized, or if the batch size, the batching window, the parallelization factor or the record age is out of bounds
   */
  public addTableStream(props: ProducerTableStreamOptions): lambda.EventSourceMapping {
    return followTableStream(this, this.function, props);
  }
}

/** An ordered producer that another app has. It adds nothing to the template. */
class ImportedOrderedProducerFunction extends OrderedProducerFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}

/** What a producer is built from: its properties, checked, and with their defaults. Numbers may be tokens. */
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
  if (hashKeyRegistry !== undefined) checkRegistry(producer, hashKeyRegistry, stream);
  return {
    ...orderedStreamSettings(producer, 'stream', stream, given),
    aggregation: aggregationAcrossKeys ? 'packed' : aggregation ? 'true' : undefined,
    lingerMs: props.milliseconds('linger'),
    requestTimeoutMs: props.milliseconds('requestTimeout'),
    sequence: sequence || undefined,
    registry: hashKeyRegistry,
    allocatesHashKeys: allocateHashKeys,
  };
}

/**
 * A record that fills no aggregate would wait for longer than an invocation sends, and be reported as not sent each time. Only the
 * function that is made knows its timeout: a blueprint may have chosen it.
 */
function checkLinger(producer: IConstruct, { lingerMs }: ProducerSettings, timeout: Duration): void {
  if (lingerMs === undefined || Token.isUnresolved(lingerMs) || timeout.isUnresolved()) return;
  const mostMs = timeout.toMilliseconds() - PRODUCER_LAST_SEND_MS;
  if (lingerMs < mostMs) return;
  const allowed = `less than ${mostMs} ms, which is timeout less ${PRODUCER_LAST_SEND_MS} ms`;
  throw new InvalidArgumentError(constructField(producer, 'linger'), `${lingerMs} ms`, allowed);
}

/** Keys that load the shards of one stream evenly may load those of another unevenly. */
function checkRegistry(producer: IConstruct, registry: IHashKeyRegistry, stream: kinesis.IStreamRef): void {
  checkOwnEnvironment(producer, 'hashKeyRegistry', 'a registry', registry);
  if (!areDifferentStreams(registry.stream, stream)) return;
  const allowed = `a registry of the stream ${nameOf(stream)}`;
  throw new InvalidArgumentError(constructField(producer, 'hashKeyRegistry'), nameOf(registry.stream), allowed);
}

/** Two resources are two streams, whatever their names will be. An imported stream is known only by what it was imported with. */
function areDifferentStreams(a: kinesis.IStreamRef, b: kinesis.IStreamRef): boolean {
  const [resourceOfA, resourceOfB] = [resourceOf(a), resourceOf(b)];
  if (resourceOfA !== undefined && resourceOfB !== undefined) return resourceOfA !== resourceOfB;
  return Token.compareStrings(a.streamRef.streamName, b.streamRef.streamName) === TokenComparison.DIFFERENT;
}

function nameOf({ streamRef: { streamName }, node }: kinesis.IStreamRef): string {
  return Token.isUnresolved(streamName) ? node.path : streamName;
}
