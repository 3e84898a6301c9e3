import { Annotations, Duration, type IResource, Names, type RemovalPolicy, Resource, Stack, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import {
  DynamoEventSource,
  KinesisConsumerEventSource,
  KinesisEventSource,
  type StreamEventSourceProps,
} from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import { grantOnSourceKey, TABLE_WRITE_KEY_ACTIONS } from '../../construct/grant-on-key';
import { grantOnTable } from '../../construct/grant-on-table';
import { protectWhileRetained, recoveryUnlessChosen } from '../../construct/kept-table';
import { familyMetric } from '../../construct/metric-definition';
import { checkedArn, constructField, newConstructField, Props } from '../../construct/props';
import { requireTableStream } from '../../construct/table-stream';
import {
  PARKING_TABLE_KEY,
  PARKING_TABLE_SORT_KEY,
  PARKING_TABLE_TIME_TO_LIVE,
} from '../../core/consumer/parking-table';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../core/contract/function-environment';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION } from '../../core/contract/function-metrics';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import { addVariables } from '../../function/environment-variables';
import { orderedStream } from '../stream-checks';
import { ORDERED_CONSUMER_METRICS } from './consumer-metrics';
import { addUnboundedMapping } from './unbounded-mapping';

/**
 * An ordered consumer of a stream, defined in this app or imported by
 * `OrderedStreamConsumer.fromOrderedStreamConsumerAttributes`. Use it to read the metrics of the consumer, and to grant
 * access to its parked keys.
 */
export interface IOrderedStreamConsumer extends IResource {
  /** The name of the consumer in its table and in its metrics. */
  readonly consumerName: string;

  /** The ARN of the function that reads the stream. */
  readonly functionArn: string;

  /** The name of the function that reads the stream. */
  readonly functionName: string;

  /** The ARN of the table of parked keys. */
  readonly parkingTableArn: string;

  /** The name of the table of parked keys: the value of `--table` for `npx even-shards parked`. */
  readonly parkingTableName: string;

  /** The customer-managed key that encrypts the table, if there is one. */
  readonly encryptionKey?: kms.IKey;

  /**
   * Allows the grantee to list, resume, skip and drop parked keys, with `npx even-shards parked` or with a
   * `DynamoDbParkingStore`. The grantee can then read every parked record.
   *
   * @param grantee the role, function or other principal that manages parked keys
   */
  grantOperate(grantee: iam.IGrantable): iam.Grant;

  /**
   * A metric of the consumer, by its name. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric in CloudWatch
   * @param props the statistic, period, label and color of the metric
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** The attributes of an existing consumer, for `OrderedStreamConsumer.fromOrderedStreamConsumerAttributes`. */
export interface OrderedStreamConsumerAttributes {
  /** The name of the consumer: `consumerName` in the app that defines the consumer. */
  readonly consumerName: string;

  /**
   * The ARN of the function that reads the stream, without a version or an alias: `functionArn` in the app that defines
   * the consumer.
   */
  readonly functionArn: string;

  /** The ARN of the table of parked keys: `parkingTableArn` in the app that defines the consumer. */
  readonly parkingTableArn: string;

  /**
   * The customer-managed key that encrypts the table. `grantOperate` also allows the use of this key.
   *
   * @default - DynamoDB encrypts the table with a key that DynamoDB owns
   */
  readonly encryptionKey?: kms.IKey;
}

/** Properties of an `OrderedStreamConsumer`. */
export interface OrderedStreamConsumerProps {
  /**
   * Your function. Its handler is the `handler` of an `OrderedConsumer` of `cdk-even-shards/consumer`. The parking
   * store of that `OrderedConsumer` is `DynamoDbParkingStore.fromEnvironment(new DynamoDB({}))`.
   *
   * The construct adds the environment variables that `fromEnvironment` reads. The function must not have these variables, and
   * synthesis fails if all variables of the function need more than Lambda's 4 KB.
   */
  readonly handler: lambda.Function;

  /**
   * The Kinesis stream to read, defined in this app or imported, in the function's own account and region. Give either
   * `stream` or `table`. To add more sources, call `handler.addEventSource` with `reportBatchItemFailures: true`. A
   * parked key is parked for all sources.
   *
   * A Lambda event has at most 6 MiB, with the data in base64. A record of more than 4,603 KiB (about 4.5 MiB) may not
   * fit. So synthesis rejects a stream that accepts larger records, unless you set `onFailure`. Synthesis does not
   * check the record size of an imported stream without a `maxRecordSize`, or of a stream whose `maxRecordSize` is a
   * token.
   *
   * @default - the stream of `table`
   */
  readonly stream?: kinesis.IStream;

  /**
   * The DynamoDB table whose stream to read, defined in this app or imported with the ARN of its stream, in the
   * function's own account and region. The stream must be on. The partition key of a record is the key of the item, as
   * text. The data of a record is the record of the table's stream, as JSON.
   *
   * At most two functions may read the stream of a table, and only one function may read the stream of a global table.
   *
   * @default - the Kinesis stream in `stream`
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
   */
  readonly table?: dynamodb.ITable;

  /**
   * Where the function begins to read after its first deployment. `TRIM_HORIZON` reads every record that the stream
   * still holds, `LATEST` reads new records, and `AT_TIMESTAMP` reads records from a given time on. The stream of a
   * table has no `AT_TIMESTAMP`. With `LATEST`, the function can miss the records of several minutes, because Lambda
   * needs this time to create the event source mapping.
   *
   * A later change fails: it needs a new event source mapping, and Lambda rejects a second mapping of the function and the
   * stream. Remove the consumer in one deployment, and add it in the next deployment.
   */
  readonly startingPosition: lambda.StartingPosition;

  /**
   * The time from which `AT_TIMESTAMP` reads, in seconds since 1970.
   *
   * @default - none; required with `AT_TIMESTAMP`
   */
  readonly startingPositionTimestamp?: number;

  /**
   * The name of the consumer in the table of parked keys: 1 to 128 characters. Under this name, the table stores which
   * records the consumer has processed. To process the stream from its beginning again, give the consumer a new name.
   *
   * @default - a name that CDK generates from the construct's path
   */
  readonly consumerName?: string;

  /**
   * The maximum number of Kinesis records in a batch, from 1 to 10,000.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long Lambda collects records for a batch.
   *
   * @default - Lambda invokes the function as soon as there are records
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * The number of batches that Lambda processes in parallel for each shard, from 1 to 10. Lambda divides the records
   * into batches by the partition key of the Kinesis record. So a value above 1 keeps the order of a key only if all
   * Kinesis records of the key have the same partition key. Every `OrderedProducer` writes such records. A Kinesis
   * Producer Library with aggregation does not write such records. Synthesis warns
   * (`cdk-even-shards:OrderedStreamConsumer.parallelBatches`) until you acknowledge that no aggregating Kinesis
   * Producer Library writes to the stream. For the stream of a table, every value keeps the order of an item, and
   * synthesis does not warn.
   *
   * @default 1
   */
  readonly parallelizationFactor?: number;

  /**
   * Whether the function uses enhanced fan-out. With enhanced fan-out, the function can read 2 MB a second from each
   * shard, independent of other consumers. It receives records about 70 ms after they were written. AWS charges for
   * each shard and for the bytes read. A change of this property creates a new event source mapping, which begins at
   * `startingPosition`. The stream of a table has no enhanced fan-out.
   *
   * @default false: Lambda polls the shards, and shares their read throughput with other consumers
   */
  readonly enhancedFanOut?: boolean;

  /**
   * The on-failure destination for a record that is too large for an event: an `SqsDlq`, an `SnsDlq` or an
   * `S3OnFailureDestination`. Lambda supports no FIFO queue, no FIFO topic and no Kafka topic. Without a destination, such
   * a record blocks its shard until the record expires. With a destination, Lambda skips the record, and the consumer processes later records of the key without this record.
   *
   * A queue or a topic receives the shard and the sequence number of the record. With these two values, you can read
   * the record from the stream until it expires. A bucket also receives the records that Lambda could not deliver.
   *
   * Lambda sends other records to the destination only after they have expired in the stream. The consumer parks a key
   * whose record fails, and Lambda retries a failed batch without a limit. Every record of a table's stream fits into an
   * event, so `onFailure` must be absent with `table`.
   *
   * @default - no destination; synthesis rejects a stream that accepts records of more than 4,603 KiB
   * @see https://docs.aws.amazon.com/streams/latest/dev/large-records.html
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * The interval at which the function retries parked keys that are due: 1 to 15 minutes.
   *
   * @default - every minute
   */
  readonly retryInterval?: Duration;

  /**
   * The encryption of the parking table at rest.
   *
   * @default - DynamoDB encrypts the table with a key that DynamoDB owns
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

  /**
   * The removal policy of the parking table. The table may hold records that exist nowhere else.
   *
   * @default - the table is retained
   */
  readonly removalPolicy?: RemovalPolicy;
}

const MAX_BATCH_RECORDS = 10_000;
const MAX_BATCHES_OF_SHARD = 10;

/** The year 5138, in seconds. Present times in milliseconds are larger. */
const LATEST_TIMESTAMP = 99_999_999_999;

const RETRY_INTERVALS = { min: Duration.minutes(1), max: Duration.minutes(15) };
/** Source: the Kinesis API reference, RegisterStreamConsumer. */
const LONGEST_NAME = 128;
const CONSUMER_NAMES = [/^.{1,128}$/su, '1 to 128 characters'] as const;

/** The DynamoDB actions that a `DynamoDbParkingStore` calls, including the actions of `once` in a transaction. */
const PARKING_ACTIONS = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];
/**
 * The DynamoDB actions that an operator of parked keys needs. `parked` commands read one key at a time, so they need no
 * `BatchGetItem`.
 */
const OPERATE_ACTIONS = PARKING_ACTIONS.filter((action) => action !== 'BatchGetItem');

/**
 * The methods that a consumer of this app and an imported consumer share.
 *
 * @internal
 */
abstract class OrderedStreamConsumerBase extends Resource implements IOrderedStreamConsumer {
  public abstract readonly consumerName: string;
  public abstract readonly functionArn: string;
  public abstract readonly functionName: string;
  public abstract readonly parkingTableArn: string;
  public abstract readonly parkingTableName: string;
  public abstract readonly encryptionKey?: kms.IKey;
  /** @internal */
  protected abstract readonly _table: dynamodb.ITableV2;

  /**
   * Allows the grantee to list, resume, skip and drop parked keys, with `npx even-shards parked` or with a
   * `DynamoDbParkingStore`. The grantee can then read every parked record.
   *
   * For a grantee of another account, the permission is also added to the resource policy of the parking table. For an
   * imported consumer, synthesis warns instead, with the id `cdk-even-shards:OrderedStreamConsumer.grantWithoutEffect`.
   *
   * @param grantee the role, function or other principal that manages parked keys
   */
  public grantOperate(grantee: iam.IGrantable): iam.Grant {
    return this._grantOnTable(grantee, OPERATE_ACTIONS);
  }

  /** @internal */
  protected _grantOnTable(grantee: iam.IGrantable, names: readonly string[]): iam.Grant {
    const actions = names.map((name) => `dynamodb:${name}`);
    const permission = { grantee, actions, resourceArn: this.parkingTableArn, keyActions: TABLE_WRITE_KEY_ACTIONS };
    return grantOnTable(this._table, permission, { construct: 'OrderedStreamConsumer', name: 'the parking table' });
  }

  /**
   * A metric of the consumer, by its name. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the
   * default is the average.
   *
   * @param metricName the name of the metric in CloudWatch
   * @param props the statistic, period, label and color of the metric
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const dimensions = { [CONSUMER_NAME_DIMENSION]: this.consumerName };
    return familyMetric(ORDERED_CONSUMER_METRICS, metricName, dimensions, props);
  }
}

class ImportedOrderedStreamConsumer extends OrderedStreamConsumerBase {
  public readonly consumerName: string;
  public readonly functionArn: string;
  public readonly functionName: string;
  public readonly parkingTableArn: string;
  public readonly parkingTableName: string;
  public readonly encryptionKey?: kms.IKey;
  /** @internal */
  protected readonly _table: dynamodb.ITableV2;

  constructor(scope: Construct, id: string, attributes: OrderedStreamConsumerAttributes) {
    const field = (property: string) => newConstructField(scope, id, property);
    super(scope, id, { environmentFromArn: checkedArn(field('functionArn'), attributes.functionArn, 'lambda') });
    checkedArn(field('parkingTableArn'), attributes.parkingTableArn, 'dynamodb');
    this.consumerName = Props.of(this, attributes).text('consumerName', ...CONSUMER_NAMES);
    this.functionArn = attributes.functionArn;
    this.functionName = lambda.Function.fromFunctionArn(this, 'Function', attributes.functionArn).functionName;
    this.parkingTableArn = attributes.parkingTableArn;
    this.encryptionKey = attributes.encryptionKey;
    this._table = dynamodb.TableV2.fromTableAttributes(this, 'ParkingTable', {
      tableArn: attributes.parkingTableArn,
      ...(this.encryptionKey && { encryptionKey: this.encryptionKey }),
    });
    this.parkingTableName = this._table.tableName;
  }
}

/**
 * Lets your function process a Kinesis stream or the stream of a table in order by key. If a record fails, the consumer parks only its key and retries
 * the records of that key in order. Other keys do not wait. Use the construct with an `OrderedConsumer` of
 * `cdk-even-shards/consumer` as the function's handler.
 *
 * The construct creates the parking table, the event source mapping, and a schedule on which the function retries
 * parked keys. The mapping uses partial batch responses and does not bisect batches. The mapping has no limit for retry
 * attempts or record age. With such a limit, Lambda would skip records of a key and deliver later records of the key.
 *
 * The construct allows the function only to use the table and to read the stream, and adds the permissions that the
 * `onFailure` destination grants. An `S3OnFailureDestination` grants permission to read, write and delete objects in
 * its bucket.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a property is out of bounds, if the stream ignores partition
 *   keys, or if the table has no stream. The same error is thrown without an `onFailure` if the stream accepts records that are too large for an event
 *
 * @stateful
 *
 * @exampleMetadata fixture=app
 * @example
 * new OrderedStreamConsumer(stack, 'Consumer', {
 *   handler: application,
 *   stream,
 *   startingPosition: lambda.StartingPosition.TRIM_HORIZON,
 * });
 */
export class OrderedStreamConsumer extends OrderedStreamConsumerBase {
  /**
   * Imports an existing consumer of another app, to read its metrics and to grant access to its parked keys. The import
   * does not create, change or look up resources.
   *
   * @param scope the construct to add the consumer to, usually `this`
   * @param id the consumer's name within the scope
   * @param attributes the names and ARNs of the consumer
   */
  public static fromOrderedStreamConsumerAttributes(
    scope: Construct,
    id: string,
    attributes: OrderedStreamConsumerAttributes,
  ): IOrderedStreamConsumer {
    return new ImportedOrderedStreamConsumer(scope, id, attributes);
  }

  /** The function that reads the stream. */
  public readonly handler: lambda.Function;

  /**
   * The table of parked keys. It also holds the items that `once` adds to your transactions. These items show which
   * records have taken effect.
   */
  public readonly parkingTable: dynamodb.TableV2;

  /** The name of the consumer in its table and in its metrics. */
  public readonly consumerName: string;

  /** The ARN of the function that reads the stream. */
  public readonly functionArn: string;

  /** The name of the function that reads the stream. */
  public readonly functionName: string;

  /** The ARN of the table of parked keys. */
  public readonly parkingTableArn: string;

  /** The name of the table of parked keys: the value of `--table` for `npx even-shards parked`. */
  public readonly parkingTableName: string;

  /** The customer-managed key that encrypts the table, if there is one. */
  public readonly encryptionKey?: kms.IKey;

  /** @internal */
  protected readonly _table: dynamodb.ITableV2;

  /**
   * @param scope the construct to add the consumer to, usually `this`
   * @param id the consumer's name within the scope
   * @param props the function, the stream or the table, and the starting position
   */
  constructor(scope: Construct, id: string, props: OrderedStreamConsumerProps) {
    super(scope, id);
    guardDeployment(this);
    const { handler, consumerName, retryInterval, mapping } = consumerSettings(this, props);
    this.handler = handler;
    this.functionArn = handler.functionArn;
    this.functionName = handler.functionName;
    this.consumerName = consumerName;
    this.parkingTable = this.addParkingTable(props);
    this._table = this.parkingTable;
    this.parkingTableArn = this.parkingTable.tableArn;
    this.parkingTableName = this.parkingTable.tableName;
    this.encryptionKey = this.parkingTable.encryptionKey;
    addVariables(handler, constructField(this, 'handler.environment'), {
      [PARKING_TABLE_NAME]: this.parkingTableName,
      [CONSUMER_NAME]: this.consumerName,
    });
    this._grantOnTable(handler, PARKING_ACTIONS);
    addUnboundedMapping(this, {
      handler,
      source: this.eventSource(props, mapping),
      stream: props.stream,
      hasOnFailure: props.onFailure !== undefined,
    });
    const { encryptionKey } = props.stream ?? props.table!;
    grantOnSourceKey(encryptionKey, handler, ['kms:Decrypt'], 'OrderedStreamConsumer');
    new events.Rule(this, 'Retry', {
      description: 'Retries the parked keys of an ordered consumer',
      schedule: events.Schedule.rate(retryInterval),
      targets: [
        new targets.LambdaFunction(handler, {
          event: events.RuleTargetInput.fromObject({ retryParked: true }),
          // The rule does not retry a failed invocation, because it invokes the function again after the interval.
          retryAttempts: 0,
        }),
      ],
    });
  }

  /**
   * The number of parked keys, including dead keys.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricParkedKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedKeys, props);
  }

  /**
   * The number of dead keys. The consumer retries a dead key only after a person resumes it. Set an alarm that is raised when
   * the metric is 1 or more.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricDeadKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.deadKeys, props);
  }

  /**
   * How long the first record of the oldest parked key has blocked that key, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricParkedSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedSeconds, props);
  }

  /**
   * The used part of `concurrency` in batches of 100 ms and more, in percent. If the consumer is behind and the value
   * is high, the handlers are too slow or `concurrency` is too low.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricBusyHandlers(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.busyHandlers, props);
  }

  /**
   * The part of a batch's duration that its longest key took, in batches of 100 ms and more, in percent. If the
   * consumer is behind and the value is high, one key has more records than one handler can process.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricLongestKey(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.longestKey, props);
  }

  private eventSource(
    { stream, table, enhancedFanOut, startingPositionTimestamp }: OrderedStreamConsumerProps,
    mapping: StreamEventSourceProps,
  ): lambda.IEventSource {
    if (stream === undefined) return new DynamoEventSource(table!, mapping);
    const settings = { ...mapping, startingPositionTimestamp };
    if (enhancedFanOut !== true) return new KinesisEventSource(stream, settings);
    const streamConsumerName = Names.uniqueResourceName(this, { maxLength: LONGEST_NAME });
    const fanOut = new kinesis.StreamConsumer(this, 'FanOut', { stream, streamConsumerName });
    return new KinesisConsumerEventSource(fanOut, settings);
  }

  private addParkingTable({ encryption, removalPolicy }: OrderedStreamConsumerProps): dynamodb.TableV2 {
    const table = new dynamodb.TableV2(
      this,
      'ParkingTable',
      withDefaults<dynamodb.TablePropsV2>(
        this,
        dynamodb.TableV2.PROPERTY_INJECTION_ID,
        {
          partitionKey: { name: PARKING_TABLE_KEY, type: dynamodb.AttributeType.STRING },
          sortKey: { name: PARKING_TABLE_SORT_KEY, type: dynamodb.AttributeType.STRING },
          timeToLiveAttribute: PARKING_TABLE_TIME_TO_LIVE,
          encryption,
          removalPolicy,
        },
        recoveryUnlessChosen,
      ),
    );
    protectWhileRetained(table);
    this.node.defaultChild = table.node.defaultChild;
    return table;
  }
}

/** The checked properties of a consumer, with defaults. Numbers may be tokens. */
interface ConsumerSettings {
  readonly handler: lambda.Function;
  readonly consumerName: string;
  readonly retryInterval: Duration;
  readonly mapping: StreamEventSourceProps;
}

function consumerSettings(consumer: OrderedStreamConsumer, given: OrderedStreamConsumerProps): ConsumerSettings {
  const { handler, startingPosition } = given;
  const props = Props.of(consumer, given, {
    consumerName: Names.uniqueResourceName(consumer, { maxLength: LONGEST_NAME }),
    retryInterval: Duration.minutes(1),
  });
  checkSource(consumer, given, props);
  checkHandler(consumer, handler);
  if (startingPosition === undefined) throw props.refusal('startingPosition', undefined, 'TRIM_HORIZON or LATEST');
  props.number('startingPositionTimestamp', { min: 0, max: LATEST_TIMESTAMP });
  const mapping: StreamEventSourceProps = {
    startingPosition,
    batchSize: props.whole('batchSize', { min: 1, max: MAX_BATCH_RECORDS }),
    maxBatchingWindow: given.maxBatchingWindow,
    parallelizationFactor: props.whole('parallelizationFactor', { min: 1, max: MAX_BATCHES_OF_SHARD }),
    reportBatchItemFailures: true,
    bisectBatchOnError: false,
    onFailure: given.onFailure,
  };
  if (given.stream !== undefined) warnOfParallelBatches(consumer, mapping.parallelizationFactor);
  return {
    handler,
    consumerName: props.text('consumerName', ...CONSUMER_NAMES),
    retryInterval: props.duration('retryInterval', RETRY_INTERVALS),
    mapping,
  };
}

/** The properties that the stream of a table does not have. */
const OF_KINESIS_ONLY = ['enhancedFanOut', 'onFailure', 'startingPositionTimestamp'] as const;

/** Checks that a consumer has exactly one source, and that the other properties fit this source. */
function checkSource(
  consumer: OrderedStreamConsumer,
  given: OrderedStreamConsumerProps,
  props: Props<OrderedStreamConsumerProps>,
): void {
  const { stream, table, startingPosition } = given;
  if (table === undefined) {
    if (stream === undefined) throw props.refusal('stream', stream, 'a Kinesis stream, or absent with a table');
    orderedStream(consumer, stream);
    return;
  }
  if (stream !== undefined) throw props.refusal('table', table.node.path, 'absent with a stream');
  requireTableStream(consumer, table);
  for (const property of OF_KINESIS_ONLY) {
    if (given[property]) throw props.refusal(property, given[property], 'absent with a table');
  }
  if (startingPosition === lambda.StartingPosition.AT_TIMESTAMP) {
    throw props.refusal('startingPosition', startingPosition, 'TRIM_HORIZON or LATEST with a table');
  }
}

/**
 * Checks that the handler is in the stack of the consumer and has no other consumer. The handler refers to the
 * consumer's table, and the consumer refers to the handler, so two separate stacks would depend on each other. A
 * handler in a nested stack of the consumer's stack is allowed. The environment of the function names one table, so one
 * function can have only one consumer.
 */
function checkHandler(consumer: OrderedStreamConsumer, handler: lambda.Function): void {
  const field = constructField(consumer, 'handler');
  const [own, ofHandler] = [Stack.of(consumer), Stack.of(handler)];
  if (ofHandler !== own && ofHandler.nestedStackParent !== own) {
    const allowed = 'a function in the stack of the consumer (put the consumer into the stack of its handler)';
    throw new InvalidArgumentError(field, handler.node.path, allowed);
  }
  const other = consumer.node.root.node
    .findAll()
    .find((each) => each !== consumer && each instanceof OrderedStreamConsumer && each.handler === handler);
  if (other === undefined) return;
  const allowed = `a function without another consumer (${other.node.path} already uses this function)`;
  throw new InvalidArgumentError(field, handler.node.path, allowed);
}

/**
 * Warns because synthesis cannot see which producers write to the stream. Records of an aggregating Kinesis Producer
 * Library lose their order in parallel batches.
 */
function warnOfParallelBatches(consumer: OrderedStreamConsumer, factor = 1): void {
  if (factor === 1) return;
  Annotations.of(consumer).addWarningV2(
    'cdk-even-shards:OrderedStreamConsumer.parallelBatches',
    `parallelizationFactor ${Token.isUnresolved(factor) ? 'above 1' : factor} keeps the order of a key only if all its Kinesis records have the ` +
      'same partition key. Every OrderedProducer writes such records, a Kinesis Producer Library that aggregates does not. ' +
      'Leave it at 1, or acknowledge this warning',
  );
}
