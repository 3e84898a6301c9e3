import {
  Annotations,
  ArnFormat,
  Duration,
  type IResource,
  Names,
  type RemovalPolicy,
  Resource,
  Stack,
  Token,
} from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import {
  KinesisConsumerEventSource,
  KinesisEventSource,
  type KinesisEventSourceProps,
} from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import {
  grantOnKey,
  protectWhileRetained,
  recoveryUnlessChosen,
  TABLE_WRITE_KEY_ACTIONS,
} from '../../construct/kept-table';
import { familyMetric } from '../../construct/metric-definition';
import { constructField, Props } from '../../construct/props';
import {
  PARKING_TABLE_KEY,
  PARKING_TABLE_SORT_KEY,
  PARKING_TABLE_TIME_TO_LIVE,
} from '../../core/consumer/parking-table';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../core/contract/function-environment';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION } from '../../core/contract/function-metrics';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { guardDeployment } from '../../deployment-check/deployment-guard';
import { orderedStream } from '../stream-checks';
import { ORDERED_CONSUMER_METRICS } from './consumer-metrics';
import { addUnboundedMapping } from './unbounded-mapping';

/**
 * An ordered consumer of a stream, of this app or imported by `OrderedStreamConsumer.fromOrderedStreamConsumerAttributes`: to watch
 * it, and to let people or functions look after its parked keys.
 */
export interface IOrderedStreamConsumer extends IResource {
  /** The name of the consumer in its table, and of its metrics. */
  readonly consumerName: string;

  /** The ARN of the function that reads the stream. */
  readonly functionArn: string;

  /** The name of the function that reads the stream. */
  readonly functionName: string;

  /** The ARN of the table of parked keys. */
  readonly parkingTableArn: string;

  /** The name of the table of parked keys: `--table` of `npx even-shards parked`. */
  readonly parkingTableName: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  readonly encryptionKey?: kms.IKey;

  /**
   * Lets somebody look after parked keys: what `npx even-shards parked` and the methods of a `DynamoDbParkingStore` for people do. Who
   * may do so can read every record that is parked.
   *
   * @param grantee the role, function or other principal that looks after them
   */
  grantOperate(grantee: iam.IGrantable): iam.Grant;

  /**
   * Any metric that the consumer writes of its work, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the average.
   *
   * @param metricName its name in CloudWatch
   * @param props its statistic, period, label and color
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

/** A consumer that exists, as `OrderedStreamConsumer.fromOrderedStreamConsumerAttributes` takes it. */
export interface OrderedStreamConsumerAttributes {
  /** The name of the consumer: `consumerName` in the app that has it. */
  readonly consumerName: string;

  /** The ARN of the function that reads the stream, without a version or an alias: `functionArn` in the app that has it. */
  readonly functionArn: string;

  /** The ARN of the table of parked keys: `parkingTableArn` in the app that has it. */
  readonly parkingTableArn: string;

  /**
   * The customer-managed key that the table is encrypted with. `grantOperate` allows its use, too.
   *
   * @default - the table is encrypted with a key that DynamoDB owns
   */
  readonly encryptionKey?: kms.IKey;
}

/** Properties of an `OrderedStreamConsumer`. */
export interface OrderedStreamConsumerProps {
  /**
   * Your function. Its handler is the `handler` of an `OrderedConsumer` of `cdk-even-shards/consumer`, whose parking store is
   * `DynamoDbParkingStore.fromEnvironment(new DynamoDB({}))`.
   */
  readonly handler: lambda.Function;

  /**
   * The stream to read, of this app or imported, in the function's own account and region. `handler.addEventSource` adds further
   * sources, streams of tables included, with `reportBatchItemFailures: true`. A key that is parked is parked for all of them.
   *
   * A record of more than 4,603 KiB (about 4.5 MiB) may not fit into an event of a function, which has at most 6 MiB in base64. So
   * synthesis rejects a stream that accepts larger records, unless you give an `onFailure`. Synthesis cannot see the limit of a stream that is imported without its
   * `maxRecordSize`, or whose limit is a token. Such a stream passes.
   */
  readonly stream: kinesis.IStream;

  /**
   * Where the function begins to read when it is deployed for the first time: `TRIM_HORIZON` for every record that the stream
   * still holds, `LATEST` for those that come from then on, `AT_TIMESTAMP` for those from a time on. While a mapping is being made, `LATEST` can miss records of some
   * minutes.
   */
  readonly startingPosition: lambda.StartingPosition;

  /**
   * Where it begins with `AT_TIMESTAMP`, in seconds since 1970.
   *
   * @default - none; `AT_TIMESTAMP` requires it
   */
  readonly startingPositionTimestamp?: number;

  /**
   * Names the consumer in its table, in 1 to 128 characters. What one consumer has processed says nothing about another: a
   * consumer that starts anew from the beginning of the stream needs a new name.
   *
   * @default - a name made of the construct's path
   */
  readonly consumerName?: string;

  /**
   * The most Kinesis records of a batch, 1 to 10,000.
   *
   * @default 100
   */
  readonly batchSize?: number;

  /**
   * How long Lambda gathers records for a batch.
   *
   * @default - the function gets records as soon as there are any
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * How many batches of a shard are handled at once, 1 to 10. Lambda divides them by the partition key of the Kinesis record.
   * So more than 1 keeps the order of a key only where all its records have the same Kinesis partition key. Those of every
   * `OrderedProducer` do. Those of a Kinesis Producer Library that aggregates do not. Synthesis warns of it
   * (`cdk-even-shards:OrderedStreamConsumer.parallelBatches`), until you acknowledge that no such producer writes to the stream.
   *
   * @default 1
   */
  readonly parallelizationFactor?: number;

  /**
   * Whether the function has enhanced fan-out: 2 MB a second of each shard to itself, and records some 70 ms after they were
   * written. It is paid by the shard and by what is read. A change of it makes a new event source mapping, which begins at
   * `startingPosition`.
   *
   * @default false: the function polls the shards, and shares their read throughput with other pollers
   */
  readonly enhancedFanOut?: boolean;

  /**
   * Where Lambda puts a record that is too large for an event: an `SqsDlq`, an `SnsDlq` or an `S3OnFailureDestination`. Without it,
   * such a record blocks its shard until it expires. With it, Lambda skips the record, so the record leaves the order of its key:
   * later records of the key do not wait for it.
   *
   * A queue or a topic gets the shard and the sequence number. Read the record from the stream with them before it expires. A bucket
   * also gets the records that Lambda could not deliver.
   *
   * Other records never go there before they expire in the stream: a key whose record fails is parked, and a batch that fails is
   * retried without a bound.
   *
   * @default - none; synthesis rejects a stream that accepts records of more than 4,603 KiB
   * @see https://docs.aws.amazon.com/streams/latest/dev/large-records.html
   */
  readonly onFailure?: lambda.IEventSourceDlq;

  /**
   * How often the function retries parked keys whose time has come, every 1 to 15 minutes.
   *
   * @default - every minute
   */
  readonly retryInterval?: Duration;

  /**
   * How the parking table is encrypted at rest.
   *
   * @default - with a key that DynamoDB owns
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

  /**
   * What happens to the parking table when the consumer leaves the stack. The table may hold records that exist nowhere else.
   *
   * @default - the table is retained
   */
  readonly removalPolicy?: RemovalPolicy;
}

const MOST_BATCH_RECORDS = 10_000;
const MOST_BATCHES_OF_SHARD = 10;

const RETRY_INTERVALS = { min: Duration.minutes(1), max: Duration.minutes(15) };
/** Source: the Kinesis API reference, RegisterStreamConsumer. */
const LONGEST_NAME = 128;
const CONSUMER_NAME_PATTERN = /^.{1,128}$/su;

/** Exactly what a `DynamoDbParkingStore` calls, and `once` in a transaction. */
const PARKING_ACTIONS = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];
/** The same for people, who look at one key after the other. */
const OPERATE_ACTIONS = PARKING_ACTIONS.filter((action) => action !== 'BatchGetItem');

/**
 * What every consumer has, of this app or imported.
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

  /**
   * Lets somebody look after parked keys: what `npx even-shards parked` and the methods of a `DynamoDbParkingStore` for people do. Who
   * may do so can read every record that is parked.
   *
   * @param grantee the role, function or other principal that looks after them
   */
  public grantOperate(grantee: iam.IGrantable): iam.Grant {
    if (this.encryptionKey) grantOnKey(this.encryptionKey, grantee, TABLE_WRITE_KEY_ACTIONS);
    return grantOnTable(grantee, OPERATE_ACTIONS, this.parkingTableArn);
  }

  /**
   * Any metric that the consumer writes of its work, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the average.
   *
   * @param metricName its name in CloudWatch
   * @param props its statistic, period, label and color
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

  constructor(scope: Construct, id: string, attributes: OrderedStreamConsumerAttributes) {
    super(scope, id, { environmentFromArn: attributes.functionArn });
    this.consumerName = attributes.consumerName;
    this.functionArn = attributes.functionArn;
    this.functionName = lambda.Function.fromFunctionArn(this, 'Function', attributes.functionArn).functionName;
    this.parkingTableArn = attributes.parkingTableArn;
    this.parkingTableName = Stack.of(this).splitArn(attributes.parkingTableArn, ArnFormat.SLASH_RESOURCE_NAME)
      .resourceName!;
    this.encryptionKey = attributes.encryptionKey;
  }
}

function grantOnTable(grantee: iam.IGrantable, actions: readonly string[], tableArn: string): iam.Grant {
  return iam.Grant.addToPrincipal({
    grantee,
    actions: actions.map((action) => `dynamodb:${action}`),
    resourceArns: [tableArn],
  });
}

/**
 * Lets a function of yours read a stream in order by key: a key whose record fails is set aside alone, and retried in order,
 * and no other key waits for it. Use it with an `OrderedConsumer` of `cdk-even-shards/consumer` as the function's handler.
 *
 * It makes the parking table, the event source mapping, and a schedule on which the same function retries parked keys. The
 * mapping reports partial batches, does not bisect, and bounds neither attempts nor the age of records: any bound would make
 * Lambda skip records of a key whose later records go on. The function may use the table, read the stream, and do what the
 * destination of `onFailure` grants, and nothing else. A bucket grants it to read, write and delete objects.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a property is out of its bounds, if the stream ignores partition keys, or if
 *   it accepts records that are too large for an event and there is no `onFailure`
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
   * Imports a consumer that exists, of another app: to watch it, and to let somebody look after its parked keys. Nothing is
   * created, changed or looked up.
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

  /** The table of parked keys, and of what `once` remembers. */
  public readonly parkingTable: dynamodb.TableV2;

  /** The name of the consumer in its table, and of its metrics. */
  public readonly consumerName: string;

  /** The ARN of the function that reads the stream. */
  public readonly functionArn: string;

  /** The name of the function that reads the stream. */
  public readonly functionName: string;

  /** The ARN of the table of parked keys. */
  public readonly parkingTableArn: string;

  /** The name of the table of parked keys: `--table` of `npx even-shards parked`. */
  public readonly parkingTableName: string;

  /** The customer-managed key that the table is encrypted with, if it has one. */
  public readonly encryptionKey?: kms.IKey;

  /**
   * @param scope the construct to add the consumer to, usually `this`
   * @param id the consumer's name within the scope
   * @param props the function, the stream, and where to begin
   */
  constructor(scope: Construct, id: string, props: OrderedStreamConsumerProps) {
    super(scope, id);
    guardDeployment(this);
    const { handler, stream, consumerName, retryInterval, source } = consumerSettings(this, props);
    this.handler = handler;
    this.functionArn = handler.functionArn;
    this.functionName = handler.functionName;
    this.consumerName = consumerName;
    this.parkingTable = this.addParkingTable(props);
    this.parkingTableArn = this.parkingTable.tableArn;
    this.parkingTableName = this.parkingTable.tableName;
    this.encryptionKey = this.parkingTable.encryptionKey;
    handler.addEnvironment(PARKING_TABLE_NAME, this.parkingTableName);
    handler.addEnvironment(CONSUMER_NAME, this.consumerName);
    grantOnTable(handler, PARKING_ACTIONS, this.parkingTableArn);
    this.encryptionKey?.grant(handler, ...TABLE_WRITE_KEY_ACTIONS);
    const hasOnFailure = props.onFailure !== undefined;
    addUnboundedMapping(this, {
      handler,
      source: this.eventSource(stream, props.enhancedFanOut, source),
      stream,
      hasOnFailure,
    });
    new events.Rule(this, 'Retry', {
      description: 'Retries the parked keys of an ordered consumer',
      schedule: events.Schedule.rate(retryInterval),
      targets: [
        new targets.LambdaFunction(handler, {
          event: events.RuleTargetInput.fromObject({ retryParked: true }),
          // The next turn is the retry.
          retryAttempts: 0,
        }),
      ],
    });
  }

  /**
   * How many keys are set aside, dead ones included.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricParkedKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedKeys, props);
  }

  /**
   * How many keys nobody tries any more, until a person resumes them. Alarm at 1.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricDeadKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.deadKeys, props);
  }

  /**
   * How long the oldest parked key is held up by its first record, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricParkedSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedSeconds, props);
  }

  /**
   * How much of its `concurrency` was at work in batches of 100 ms and more, in percent. While the consumer is behind, a high value
   * says that its handlers are slow, or too few.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricBusyHandlers(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.busyHandlers, props);
  }

  /**
   * How much of the time of a batch its longest key took, of batches of 100 ms and more, in percent. While the consumer is behind,
   * a high value says that one key has more than one handler at a time can do.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricLongestKey(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.longestKey, props);
  }

  private eventSource(
    stream: kinesis.IStream,
    enhancedFanOut = false,
    settings: KinesisEventSourceProps,
  ): lambda.IEventSource {
    if (!enhancedFanOut) return new KinesisEventSource(stream, settings);
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

/** What a consumer is built from: its properties, checked, and with their defaults. Numbers may be tokens. */
interface ConsumerSettings {
  readonly handler: lambda.Function;
  readonly stream: kinesis.IStream;
  readonly consumerName: string;
  readonly retryInterval: Duration;
  readonly source: KinesisEventSourceProps;
}

function consumerSettings(consumer: OrderedStreamConsumer, given: OrderedStreamConsumerProps): ConsumerSettings {
  const { handler, stream, startingPosition } = given;
  const props = Props.of(consumer, given, {
    consumerName: Names.uniqueResourceName(consumer, { maxLength: LONGEST_NAME }),
    retryInterval: Duration.minutes(1),
  });
  orderedStream(consumer, stream);
  checkHandler(consumer, handler);
  if (startingPosition === undefined) throw props.refusal('startingPosition', undefined, 'TRIM_HORIZON or LATEST');
  const source: KinesisEventSourceProps = {
    startingPosition,
    startingPositionTimestamp: given.startingPositionTimestamp,
    batchSize: props.whole('batchSize', { min: 1, max: MOST_BATCH_RECORDS }),
    maxBatchingWindow: given.maxBatchingWindow,
    parallelizationFactor: props.whole('parallelizationFactor', { min: 1, max: MOST_BATCHES_OF_SHARD }),
    reportBatchItemFailures: true,
    bisectBatchOnError: false,
    onFailure: given.onFailure,
  };
  warnOfParallelBatches(consumer, source.parallelizationFactor);
  const consumerName = props.value('consumerName');
  if (!Token.isUnresolved(consumerName) && !CONSUMER_NAME_PATTERN.test(consumerName)) {
    throw props.refusal('consumerName', consumerName, '1 to 128 characters');
  }
  return {
    handler,
    stream,
    consumerName,
    retryInterval: props.duration('retryInterval', RETRY_INTERVALS),
    source,
  };
}

/**
 * The handler needs the table of the consumer, and the consumer needs the handler: in two stacks, each would need the other. A nested
 * stack of the consumer's own is deployed with it. The function finds its table in its environment, which names one table.
 */
function checkHandler(consumer: OrderedStreamConsumer, handler: lambda.Function): void {
  const field = constructField(consumer, 'handler');
  const [own, ofHandler] = [Stack.of(consumer), Stack.of(handler)];
  if (ofHandler !== own && ofHandler.nestedStackParent !== own) {
    const allowed = 'a function of the stack of the consumer: put the consumer into the stack of its handler';
    throw new InvalidArgumentError(field, handler.node.path, allowed);
  }
  const other = consumer.node.root.node
    .findAll()
    .find((each) => each !== consumer && each instanceof OrderedStreamConsumer && each.handler === handler);
  if (other === undefined) return;
  const allowed = `a function of its own: ${other.node.path} has this one, and a function is one consumer`;
  throw new InvalidArgumentError(field, handler.node.path, allowed);
}

/** Nothing here shows who writes to a stream, and what an aggregating Kinesis Producer Library writes loses its order. */
function warnOfParallelBatches(consumer: OrderedStreamConsumer, factor = 1): void {
  if (factor === 1) return;
  Annotations.of(consumer).addWarningV2(
    'cdk-even-shards:OrderedStreamConsumer.parallelBatches',
    `parallelizationFactor ${Token.isUnresolved(factor) ? 'above 1' : factor} keeps the order of a key only where all its records have the ` +
      'same Kinesis partition key: those of every OrderedProducer do, those of a Kinesis Producer Library that aggregates do not. ' +
      'Leave it at 1, or acknowledge this warning',
  );
}
