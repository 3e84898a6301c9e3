import { Duration, type Size, Stack, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as events from 'aws-cdk-lib/aws-events';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import type { MetricFamily } from '../construct/metric-definition';
import { checkedArn, checkOwnEnvironment, constructField, inConstructTerms, Props } from '../construct/props';
import {
  AGGREGATION,
  CLOUD_EVENTS,
  DATABASE_HOST,
  DATABASE_NAME,
  DATABASE_PORT,
  DATABASE_SECRET_ARN,
  DATABASE_USER,
  HASH_BUCKETS,
  MAX_RECORD_BYTES,
  MAX_TRIES,
  OUTBOX_SCHEMA,
  STREAM_NAME,
  STREAMS,
  type StreamOfTopic,
} from '../core/contract/function-environment';
import { OUTBOX_METRICS } from '../core/contract/function-metrics';
import { InvalidArgumentError } from '../core/kernel/errors';
import { checkEnvelope } from '../core/outbox/envelope';
import { checkSchemaName } from '../core/outbox/outbox-schema';
import { guardDeployment } from '../deployment-check/deployment-guard';
import {
  addBundledFunction,
  type BaseBundledFunctionOptions,
  BundledFunctionBase,
  type IBundledFunction,
  runOnSchedule,
} from '../function/bundled-function';
import { RECORD_LIMITS } from '../stream/record-size-limit';
import { type OrderedStreamSettings, orderedStreamSettings } from '../stream/stream-checks';
import { StreamProduceGrants } from '../stream/stream-grants';
import type { OutboxRelayDatabase } from './outbox-relay-database';
import { OUTBOX_RELAY_METRICS } from './outbox-relay-metrics';

/**
 * The relay of an outbox, defined in this app or imported by `OutboxRelayFunction.fromFunctionArn`. Its metrics, such
 * as `WaitingRows`, are in the namespace `EvenShards`.
 */
export interface IOutboxRelayFunction extends IBundledFunction {}

/**
 * The metrics that a relay of this app and an imported relay share.
 *
 * @internal
 */
abstract class OutboxRelayFunctionBase extends BundledFunctionBase implements IOutboxRelayFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = OUTBOX_RELAY_METRICS;

  /**
   * Rows that wait to be sent, including parked rows.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricWaitingRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingRows, props);
  }

  /**
   * The age of the oldest waiting row, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricWaitingSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingSeconds, props);
  }

  /**
   * Rows that wait because their whole key waits: a row of the key was rejected, or the key has many more rows than
   * other keys.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricParkedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.parkedRows, props);
  }

  /**
   * Rows that the stream stored.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRelayedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.relayedRows, props);
  }

  /**
   * Rejections of rows.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRejections(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.rejections, props);
  }

  /**
   * Rows that the relay gave up and moved to the table `rejected`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricGivenUpRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.givenUpRows, props);
  }

  /**
   * Invocations in which the relay refused to run. The next invocation fails for the same reason, such as a pooler in
   * transaction mode, a wrong schema version, a missing permission or a wrong password.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRefusals(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.refusals, props);
  }
}

/** The attributes of CloudEvents that are the same for all rows of an outbox. */
export interface OutboxCloudEventsOptions {
  /** The attribute `source` of the events: a URI reference that is not empty, such as `/repositories`. */
  readonly source: string;

  /**
   * The attribute `type` of the events for rows without a type. It must not be empty.
   *
   * @default 'event'
   */
  readonly defaultType?: string;
}

/** Properties of an `OutboxRelayFunction`. */
export interface OutboxRelayFunctionProps extends BaseBundledFunctionOptions {
  /**
   * The stream to write to, defined in this app or imported, in the account and region of the function. Set exactly one
   * of `stream` and `streamsByTopic`.
   *
   * @default - each row goes to the stream of its topic
   */
  readonly stream?: kinesis.IStreamRef;

  /**
   * The streams to write to, by the `topic` of the rows. Each topic has its own stream, defined in this app or
   * imported, in the account and region of the function. A topic has 1 to 256 characters.
   *
   * The rows of a key are in order within a topic. A row whose topic is absent or not in this map waits, and so do the
   * later rows of its key.
   *
   * @default - all rows go to `stream`
   */
  readonly streamsByTopic?: { readonly [topic: string]: kinesis.IStreamRef };

  /**
   * Sends rows as CloudEvents 1.0 in JSON format, with the type, the headers and the time of each row. A record is then
   * larger than the data of its row. Configure `accept_records_of`, so that `put` rejects data that does not fit into a
   * record.
   *
   * @default - a record is the data of its row
   */
  readonly cloudEvents?: OutboxCloudEventsOptions;

  /** The database of the outbox, and the credentials. */
  readonly database: OutboxRelayDatabase;

  /**
   * The VPC of the function. From this VPC, the function must reach the database and, through a NAT gateway or
   * interface endpoints, Kinesis. With a secret, the function must also reach Secrets Manager.
   */
  readonly vpc: ec2.IVpc;

  /**
   * The subnets of the function in the VPC.
   *
   * @default - the private subnets of the VPC
   */
  readonly vpcSubnets?: ec2.SubnetSelection;

  /**
   * The security groups of the function. The construct allows them to connect to the database.
   *
   * @default - the construct creates a security group for the function
   */
  readonly securityGroups?: ec2.ISecurityGroup[];

  /**
   * Whether the function may run in a public subnet of the VPC. From a public subnet, the function reaches VPC
   * endpoints but not the internet.
   *
   * @default false
   */
  readonly allowPublicSubnet?: boolean;

  /**
   * Whether the function may use IPv6 in dual-stack subnets.
   *
   * @default false
   */
  readonly ipv6AllowedForDualStack?: boolean;

  /**
   * The schema of the outbox in the database.
   *
   * @default - `outbox`
   */
  readonly schema?: string;

  /**
   * The schedule of the relay: at least once an hour. Use a schedule of once a minute if rows must not wait long. An
   * invocation ends immediately if other invocations already hold all ranges of keys.
   *
   * @default - once a minute
   */
  readonly schedule?: events.Schedule;

  /**
   * The reserved concurrency of the function: at least 1. The order of rows does not depend on this limit, because
   * invocations lock their ranges of keys.
   *
   * @default - no reserved concurrency: there is one invocation for each range of keys
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * How long an invocation relays rows: 1 to 15 minutes. Between two invocations, rows wait for the next run of the
   * schedule. If this delay is too long, run `OutboxRelay` in a container.
   *
   * @default - 15 minutes
   */
  readonly timeout?: Duration;

  /**
   * The memory of the function in MiB, from 128 to 10,240. Lambda assigns processor time in proportion to memory.
   *
   * @default - 512
   */
  readonly memorySize?: number;

  /**
   * Whether consecutive rows of a partition key share a Kinesis record. Consumers need `deaggregate` in any case,
   * because every record of an outbox has the aggregate format, which carries the sequence numbers.
   *
   * @default true
   */
  readonly aggregation?: boolean;

  /**
   * The size limit of a record, including its partition key: 1 MiB to 10 MiB, and at most the `maxRecordSize` of each
   * stream. Set it if synthesis does not know the limit of a stream: for an imported `kinesis.Stream`, or if the limit
   * is a token.
   *
   * @default - the limit of each stream, if the stream is defined in this app or is an `IUniformStream`; otherwise 1
   *   MiB
   */
  readonly maxRecordSize?: Size;

  /**
   * The number of hash buckets of the stream: a power of two from 2 to 65,536. The relay sends a row to the centre of
   * its key's bucket. An `IUniformStream` has its own `hashBuckets`. All producers of a key must use the same number.
   *
   * @default - the `hashBuckets` of the stream. If the stream has no `hashBuckets`, the MD5 of a partition key decides
   *   its shard
   */
  readonly hashBuckets?: number;

  /**
   * The maximum number of attempts for a row that the stream rejects. It is at least 1. After the last attempt, the
   * relay moves the row to the table `rejected`, and sends the later rows of its key.
   *
   * @default - the relay never gives up a row: the later rows of its key wait, and the relay sends the rows of other
   *   keys
   */
  readonly maxTries?: number;
}

/**
 * A function that sends the rows of a Postgres outbox to a Kinesis stream, in commit order for each key. A schedule
 * invokes the function. At most one invocation works on each range of keys, until shortly before its timeout.
 *
 * Its role only allows writing to its streams, logging in to the database, writing to its log group, and connecting to
 * the VPC. Its metrics are in the namespace `EvenShards`, with the dimension `FunctionName`.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a property is out of bounds, if a stream ignores partition keys,
 *   or if two topics have the same stream
 * @throws an error with the code `INVALID_ARGUMENT` if a stream or the VPC is known to be in another account or region
 *
 * @exampleMetadata fixture=app
 * @example
 * new OutboxRelayFunction(stack, 'Relay', {
 *   stream,
 *   vpc,
 *   database: OutboxRelayDatabase.fromCluster(cluster, { iamUser: 'relay' }),
 * });
 */
export class OutboxRelayFunction extends OutboxRelayFunctionBase implements IOutboxRelayFunction {
  /**
   * Imports an existing relay of another app by its ARN, to read its metrics and to grant its invocation. The import
   * does not create, change or look up resources.
   *
   * The role of the relay is unknown. So CDK warns or throws if you grant permissions to the relay. To import the role
   * too, use `fromFunctionAttributes`.
   *
   * @param scope the construct to add the relay to, usually `this`
   * @param id the relay's name within the scope
   * @param functionArn the ARN of its function: `functionArn` in the app that defines the relay
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IOutboxRelayFunction {
    return new ImportedOutboxRelayFunction(scope, id, { functionArn });
  }

  /**
   * Imports an existing relay of another app, with its role and its security group. Grants add permissions to the role
   * if the role is in this account and is mutable. Connections use the security group.
   *
   * @param scope the construct to add the relay to, usually `this`
   * @param id the relay's name within the scope
   * @param attributes the attributes of the function, for `lambda.Function.fromFunctionAttributes`
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IOutboxRelayFunction {
    return new ImportedOutboxRelayFunction(scope, id, attributes);
  }

  /** The function, to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * Creates a function with its own role, log group, security group and schedule.
   *
   * @param scope the construct to add the relay to, usually `this`
   * @param id the name of the relay within the scope
   * @param props the database, the streams, and the settings of the function
   */
  constructor(scope: Construct, id: string, props: OutboxRelayFunctionProps) {
    super(scope, id);
    guardDeployment(this);
    const settings = relaySettings(this, props);
    const { streams, database } = settings;
    const securityGroups = props.securityGroups ?? [
      new ec2.SecurityGroup(this, 'SecurityGroup', { vpc: props.vpc, description: 'Relay of an outbox' }),
    ];
    this.function = addBundledFunction(
      this,
      {
        bundle: 'outbox-relay',
        description: 'Sends the rows of a Postgres outbox to a Kinesis stream, in order per partition key',
        environment: {
          ...environmentOf(this, streams),
          [AGGREGATION]: settings.aggregation,
          [CLOUD_EVENTS]: settings.cloudEvents,
          [DATABASE_HOST]: database.host,
          [DATABASE_PORT]: database.port,
          [DATABASE_NAME]: database.databaseName,
          [DATABASE_SECRET_ARN]: database.secret?.secretArn,
          [DATABASE_USER]: database.iamUser,
          [OUTBOX_SCHEMA]: settings.schema,
          [MAX_TRIES]: settings.maxTries,
          // The certificates of RDS, which Node.js does not trust by default. Source: the Lambda developer guide,
          // Node.js.
          NODE_EXTRA_CA_CERTS: '/var/runtime/ca-cert.pem',
        },
        timeout: settings.timeout,
        minTimeout: MIN_TIMEOUT,
        memorySize: 512,
        ...(props.streamsByTopic && { largest: MANY_TOPICS }),
      },
      // Lambda drops an invocation that cannot run, because the schedule soon starts the next invocation.
      { ...props, securityGroups, retryAttempts: 0, maxEventAge: Duration.minutes(1) },
    );
    for (const { stream } of streams) StreamProduceGrants.fromStream(stream).produce(this.function);
    database._allow(this.function);
    runOnSchedule(this, this.function, {
      description: 'Starts the relay of an outbox',
      schedule: settings.schedule,
      retryAttempts: 0,
    });
  }
}

/** A relay of another app. The import adds nothing to the template. */
class ImportedOutboxRelayFunction extends OutboxRelayFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    checkedArn(constructField(this, 'functionArn'), attributes.functionArn, 'lambda');
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}

interface RelayStream extends OrderedStreamSettings {
  /** The topic whose rows go to this stream. Absent if all rows go to this stream. */
  readonly topic?: string;
}

/** The checked properties of a relay, with defaults. */
interface RelaySettings {
  readonly streams: readonly RelayStream[];
  readonly aggregation: boolean;
  readonly database: OutboxRelayDatabase;
  readonly schema?: string;
  /** The options for CloudEvents, as JSON. */
  readonly cloudEvents?: string;
  readonly maxTries?: number;
  readonly timeout: Duration;
  readonly schedule: events.Schedule;
}

function relaySettings(relay: IConstruct, given: OutboxRelayFunctionProps): RelaySettings {
  const props = Props.of(relay, given, {
    aggregation: true,
    timeout: Duration.minutes(15),
    schedule: events.Schedule.rate(Duration.minutes(1)),
  });
  checkOwnEnvironment(relay, 'vpc', 'a network', given.vpc);
  props.whole('reservedConcurrentExecutions', { min: 1 });
  const schema = given.schema || undefined;
  if (schema !== undefined && !Token.isUnresolved(schema)) checkSchemaName(schema, props.field('schema'));
  return {
    streams: relayStreams(relay, props, given),
    aggregation: props.value('aggregation'),
    database: given.database,
    schema,
    cloudEvents: envelopeJson(relay, given.cloudEvents),
    maxTries: props.whole('maxTries', { min: 1 }),
    timeout: props.value('timeout'),
    schedule: hourlySchedule(props),
  };
}

function relayStreams(
  relay: IConstruct,
  props: Props<OutboxRelayFunctionProps>,
  given: OutboxRelayFunctionProps,
): RelayStream[] {
  const { stream, streamsByTopic } = given;
  if ((stream === undefined) === (streamsByTopic === undefined)) {
    const received = stream === undefined ? undefined : 'both';
    throw props.refusal('stream', received, 'a stream if there is no streamsByTopic, and otherwise absent');
  }
  const maxRecordBytes = props.bytes('maxRecordSize', RECORD_LIMITS);
  const hashBuckets = props.resolved('hashBuckets', 'a power of two');
  if (stream !== undefined) return [orderedStreamSettings(relay, 'stream', stream, { maxRecordBytes, hashBuckets })];
  const streams = Object.entries(streamsByTopic!);
  if (streams.length === 0) throw props.refusal('streamsByTopic', '{}', 'one topic or more');
  const topics = new Map<string, string>();
  return streams.map(([topic, each]) => {
    if (topic.length < 1 || topic.length > LONGEST_TOPIC) {
      throw props.refusal('streamsByTopic', topic, `topics of 1 to ${LONGEST_TOPIC} characters`);
    }
    const property = `streamsByTopic.${topic}`;
    const name = JSON.stringify(Stack.of(relay).resolve(each.streamRef.streamName));
    const other = topics.get(name);
    if (other !== undefined) {
      // With a shared stream, a consumer would treat rows of one topic as duplicates of rows of the other topic.
      const allowed = `a stream that no other topic uses (the topic ${other} already uses this stream)`;
      throw new InvalidArgumentError(constructField(relay, property), each.node.path, allowed);
    }
    topics.set(name, topic);
    return { topic, ...orderedStreamSettings(relay, property, each, { maxRecordBytes, hashBuckets }) };
  });
}

const MANY_TOPICS = { property: 'streamsByTopic', remedy: 'use several outboxes with fewer topics' };

/** The environment variables that contain the streams. */
function environmentOf(
  relay: IConstruct,
  streams: readonly RelayStream[],
): Record<string, string | number | undefined> {
  const [{ topic, stream, maxRecordBytes, hashBuckets }] = streams as readonly [RelayStream];
  if (topic === undefined) {
    return {
      [STREAM_NAME]: stream.streamRef.streamName,
      [MAX_RECORD_BYTES]: maxRecordBytes,
      [HASH_BUCKETS]: hashBuckets,
    };
  }
  const byTopic = streams.map(({ topic, stream, ...settings }): [string, StreamOfTopic] => [
    topic!,
    { streamName: stream.streamRef.streamName, ...settings },
  ]);
  return { [STREAMS]: Stack.of(relay).toJsonString(Object.fromEntries(byTopic)) };
}

function envelopeJson(relay: IConstruct, options: OutboxCloudEventsOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  const { source, defaultType } = options;
  inConstructTerms(relay, 'cloudEvents', () => checkEnvelope({ source, defaultType }));
  return Stack.of(relay).toJsonString({ source, defaultType });
}

const MIN_TIMEOUT = { min: Duration.minutes(1), because: 'the relay stops reading rows 10 seconds before its timeout' };

/** The maximum length of a row's topic in the outbox, in characters. */
const LONGEST_TOPIC = 256;

/** Schedule expressions that start the relay at least once in each hour of each day. */
const HOURLY = [
  /^rate\(([1-9]|[1-5]\d|60) minutes?\)$/,
  /^rate\(1 hour\)$/,
  /^cron\(\S+ (\*(\/1)?|0\/1|0-23) [*?] \* [*?] \*\)$/,
];

function hourlySchedule(props: Props<Required<Pick<OutboxRelayFunctionProps, 'schedule'>>>): events.Schedule {
  const schedule = props.value('schedule');
  const { expressionString: expression } = schedule;
  if (Token.isUnresolved(expression) || HOURLY.some((pattern) => pattern.test(expression))) return schedule;
  const allowed =
    'a schedule that starts the relay at least once in each hour of each day, such as rate(1 minute) (rows wait for the next start)';
  throw props.refusal('schedule', expression, allowed);
}
