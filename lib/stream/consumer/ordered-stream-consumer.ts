import { Duration, Names, type RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { KinesisEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Construct } from 'constructs';
import { withDefaults } from '../../construct/blueprint';
import { protectWhileRetained, recoveryUnlessChosen, TABLE_WRITE_KEY_ACTIONS } from '../../construct/kept-table';
import { familyMetric } from '../../construct/metric-definition';
import { constructField } from '../../construct/props-checks';
import {
  PARKING_TABLE_KEY,
  PARKING_TABLE_SORT_KEY,
  PARKING_TABLE_TIME_TO_LIVE,
} from '../../core/consumer/parking-table';
import { InvalidArgumentError } from '../../core/foundation/errors';
import { CONSUMER_NAME, PARKING_TABLE_NAME } from '../../core/foundation/function-environment';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION } from '../../core/foundation/function-metrics';
import { orderedStream } from '../stream-checks';
import { ORDERED_CONSUMER_METRICS } from './consumer-metrics';

/** Properties of an `OrderedStreamConsumer`. */
export interface OrderedStreamConsumerProps {
  /**
   * Your function. Its handler is the `handler` of an `OrderedConsumer` of `cdk-even-shards/consumer`, whose parking store is
   * `DynamoDbParkingStore.fromEnvironment(new DynamoDB({}))`.
   */
  readonly handler: lambda.Function;

  /** The stream to read, of this app or imported, in the function's own account and region. */
  readonly stream: kinesis.IStream;

  /**
   * Where the function begins to read when it is deployed for the first time: `TRIM_HORIZON` for every record that the stream
   * still holds, `LATEST` for those that come from then on. While a mapping is being made, `LATEST` can miss records of some
   * minutes.
   */
  readonly startingPosition: lambda.StartingPosition;

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
   * @default - not at all
   */
  readonly maxBatchingWindow?: Duration;

  /**
   * How many batches of a shard are handled at once, 1 to 10. Lambda divides them by the partition key of the Kinesis record.
   * So more than 1 keeps the order of a key only where all its records have the same Kinesis partition key. Those of every
   * `OrderedProducer` do. Those of a Kinesis Producer Library that aggregates do not.
   *
   * @default 1
   */
  readonly parallelizationFactor?: number;

  /**
   * How often the function retries parked keys whose time has come.
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
   * What becomes of the parking table when the consumer leaves the stack. It holds records that nobody else has any more.
   *
   * @default - it is retained
   */
  readonly removalPolicy?: RemovalPolicy;
}

const MOST_BATCH_RECORDS = 10_000;
const MOST_BATCHES_OF_SHARD = 10;

/** Exactly what a `DynamoDbParkingStore` calls, and `once` in a transaction. */
const PARKING_ACTIONS = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'];

/**
 * Lets a function of yours read a stream in order by key: a key whose record fails is set aside alone, and retried in order,
 * and no other key waits for it. Use it with an `OrderedConsumer` of `cdk-even-shards/consumer` as the function's handler.
 *
 * It makes the parking table, the event source mapping, and a schedule on which the same function retries parked keys. The
 * mapping reports partial batches, does not bisect, and bounds neither attempts nor the age of records: any bound would make
 * Lambda skip records of a key whose later records go on. The function may use the table, and nothing else is allowed to it
 * beyond reading the stream.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a property is out of its bounds, or if the stream ignores partition
 *   keys
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
export class OrderedStreamConsumer extends Construct {
  /** The function that reads the stream. */
  public readonly handler: lambda.Function;

  /** The table of parked keys, and of what `once` remembers. */
  public readonly parkingTable: dynamodb.TableV2;

  /** The name of the consumer in its table, and of its metrics. */
  public readonly consumerName: string;

  /**
   * @param scope the construct to add the consumer to, usually `this`
   * @param id the consumer's name within the scope
   * @param props the function, the stream, and where to begin
   */
  constructor(scope: Construct, id: string, props: OrderedStreamConsumerProps) {
    super(scope, id);
    const { handler, stream, startingPosition, retryInterval = Duration.minutes(1) } = props;
    orderedStream(this, stream);
    checkOwnStack(this, handler);
    this.checkWhole('batchSize', props.batchSize, MOST_BATCH_RECORDS);
    this.checkWhole('parallelizationFactor', props.parallelizationFactor, MOST_BATCHES_OF_SHARD);
    if (startingPosition === undefined) {
      throw new InvalidArgumentError(constructField(this, 'startingPosition'), undefined, 'TRIM_HORIZON or LATEST');
    }
    this.handler = handler;
    this.consumerName = this.checkedName(props.consumerName ?? Names.uniqueResourceName(this, { maxLength: 128 }));
    this.parkingTable = this.addParkingTable(props);
    handler.addEnvironment(PARKING_TABLE_NAME, this.parkingTable.tableName);
    handler.addEnvironment(CONSUMER_NAME, this.consumerName);
    iam.Grant.addToPrincipal({
      grantee: handler,
      actions: PARKING_ACTIONS.map((action) => `dynamodb:${action}`),
      resourceArns: [this.parkingTable.tableArn],
    });
    this.parkingTable.encryptionKey?.grant(handler, ...TABLE_WRITE_KEY_ACTIONS);
    handler.addEventSource(
      new KinesisEventSource(stream, {
        startingPosition,
        batchSize: props.batchSize,
        maxBatchingWindow: props.maxBatchingWindow,
        parallelizationFactor: props.parallelizationFactor,
        reportBatchItemFailures: true,
        bisectBatchOnError: false,
      }),
    );
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
   * @param props statistic, period and looks
   */
  public metricParkedKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedKeys, props);
  }

  /**
   * How many keys nobody tries any more, until a person resumes them. Alarm at 1.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricDeadKeys(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.deadKeys, props);
  }

  /**
   * How long the oldest parked key is held up by its first record, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricParkedSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(CONSUMER_METRICS.parkedSeconds, props);
  }

  private metric(name: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return familyMetric(ORDERED_CONSUMER_METRICS, name, { [CONSUMER_NAME_DIMENSION]: this.consumerName }, props);
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

  private checkedName(name: string): string {
    if (Token.isUnresolved(name) || /^.{1,128}$/su.test(name)) return name;
    throw new InvalidArgumentError(constructField(this, 'consumerName'), name, '1 to 128 characters');
  }

  private checkWhole(property: string, value: number | undefined, most: number): void {
    if (value === undefined || Token.isUnresolved(value)) return;
    if (Number.isInteger(value) && value >= 1 && value <= most) return;
    throw new InvalidArgumentError(constructField(this, property), value, `a whole number from 1 to ${most}`);
  }
}

/**
 * The handler needs the table of the consumer, and the consumer needs the handler: in two stacks, each would need the other. A nested
 * stack of the consumer's own is deployed with it.
 */
function checkOwnStack(consumer: Construct, handler: lambda.Function): void {
  const [own, ofHandler] = [Stack.of(consumer), Stack.of(handler)];
  if (ofHandler === own || ofHandler.nestedStackParent === own) return;
  const allowed = 'a function of the stack of the consumer: put the consumer into the stack of its handler';
  throw new InvalidArgumentError(constructField(consumer, 'handler'), handler.node.path, allowed);
}
