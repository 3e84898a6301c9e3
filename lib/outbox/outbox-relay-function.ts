import { Duration, type Size, Stack, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as events from 'aws-cdk-lib/aws-events';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import type { MetricFamily } from '../construct/metric-definition';
import { checkOwnEnvironment, constructField, inConstructTerms, Props } from '../construct/props';
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
import { checkEnvironmentSize } from '../function/environment-size';
import { type OrderedStreamSettings, orderedStreamSettings } from '../stream/stream-checks';
import { StreamProduceGrants } from '../stream/stream-grants';
import type { OutboxRelayDatabase } from './outbox-relay-database';
import { OUTBOX_RELAY_METRICS } from './outbox-relay-metrics';

/**
 * The relay of an outbox, of this app or imported by `OutboxRelayFunction.fromFunctionArn`. Its metrics are in the namespace
 * `EvenShards`, such as `WaitingRows`.
 */
export interface IOutboxRelayFunction extends IBundledFunction {}

/**
 * What every relay of an outbox has, of this app or imported: the metrics that it writes of its work.
 *
 * @internal
 */
abstract class OutboxRelayFunctionBase extends BundledFunctionBase implements IOutboxRelayFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = OUTBOX_RELAY_METRICS;

  /**
   * Rows that wait to be relayed, parked ones included.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricWaitingRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingRows, props);
  }

  /**
   * The age of the oldest row that waits, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricWaitingSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingSeconds, props);
  }

  /**
   * Rows that wait because their key does: a row of it was rejected, or it has many more rows than others.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricParkedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.parkedRows, props);
  }

  /**
   * Rows that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRelayedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.relayedRows, props);
  }

  /**
   * How often a row was rejected.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRejections(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.rejections, props);
  }

  /**
   * Rows that were moved to the table of the rejected rows.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricGivenUpRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.givenUpRows, props);
  }

  /**
   * Invocations that ended because the relay refused to run, with an error that the next invocation meets, too: a pooler in
   * transaction mode, another version of the schema, a missing permission, a wrong password.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRefusals(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.refusals, props);
  }
}

/** The attributes of CloudEvents that are the same for all rows of an outbox. */
export interface OutboxCloudEventsOptions {
  /** What the events come from: the attribute `source`, a URI reference that is not empty, such as `/repositories`. */
  readonly source: string;

  /**
   * The attribute `type` of rows that were put without one. It must not be empty.
   *
   * @default 'event'
   */
  readonly defaultType?: string;
}

/** Properties of an `OutboxRelayFunction`. */
export interface OutboxRelayFunctionProps extends BaseBundledFunctionOptions {
  /**
   * The stream to write to, of this app or imported, in the function's own account and region. Exactly one of `stream` and
   * `streamsByTopic` must be given.
   *
   * @default - each row goes to the stream of its topic
   */
  readonly stream?: kinesis.IStreamRef;

  /**
   * The streams to write to, by the `topic` with which rows are put, each a stream of its own: of this app or imported, in the
   * function's own account and region. Each key is in order within its topic. A row with another topic, or none, waits, and
   * its key with it. A topic has 1 to 256 characters.
   *
   * @default - all rows go to `stream`
   */
  readonly streamsByTopic?: { readonly [topic: string]: kinesis.IStreamRef };

  /**
   * Sends rows as CloudEvents 1.0 in their JSON form, with the type, the headers and the time of each row. That makes a record
   * larger than its data: let `put` refuse what leaves no room (`accept_records_of`).
   *
   * @default - a record is the data of its row
   */
  readonly cloudEvents?: OutboxCloudEventsOptions;

  /** The database that the outbox is in, and how to log in. */
  readonly database: OutboxRelayDatabase;

  /**
   * The network to run in, from which the database can be reached, and Kinesis, and Secrets Manager if there is a secret:
   * by a NAT gateway or by interface endpoints.
   */
  readonly vpc: ec2.IVpc;

  /**
   * The subnets to run in.
   *
   * @default - the function runs in the private subnets of the network
   */
  readonly vpcSubnets?: ec2.SubnetSelection;

  /**
   * Security groups of the function. The database lets them in.
   *
   * @default - the construct makes a security group for the function
   */
  readonly securityGroups?: ec2.ISecurityGroup[];

  /**
   * Whether the function may run in a public subnet of the network, from where it reaches what the network has endpoints for, and
   * not the internet.
   *
   * @default false
   */
  readonly allowPublicSubnet?: boolean;

  /**
   * Whether the function may use IPv6 in subnets that have both.
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
   * When to start: at least once an hour. Once a minute is right where events are not to wait: an invocation that finds others
   * at work ends at once.
   *
   * @default - once a minute
   */
  readonly schedule?: events.Schedule;

  /**
   * How many invocations may run at the same time, reserved from what the account may run: 1 or more. Order does not need it,
   * for workers hold their ranges of keys by locks.
   *
   * @default - no concurrency is reserved: as many invocations run as there are ranges of keys
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * How long one invocation relays: 1 to 15 minutes. Between two invocations rows wait, for as long as the schedule has
   * it; where that matters, run `OutboxRelay` in a container.
   *
   * @default - 15 minutes
   */
  readonly timeout?: Duration;

  /**
   * Memory in MiB, and CPU in proportion to it.
   *
   * @default - 512
   */
  readonly memorySize?: number;

  /**
   * Whether consecutive rows of a partition key are packed into one Kinesis record. Consumers take all records of an
   * outbox apart with `deaggregate` in any case, for that is how numbers are carried.
   *
   * @default true
   */
  readonly aggregation?: boolean;

  /**
   * The size limit of a record, its partition key included: 1 MiB to 10 MiB, and at most the `maxRecordSize` of each
   * stream. Give it where a stream does not say its limit: for a `kinesis.Stream` that is imported, or where the limit of a
   * stream is a token.
   *
   * @default - the limit of each stream if it is of this app, or an `IUniformStream`; else 1 MiB
   */
  readonly maxRecordSize?: Size;

  /**
   * How many hash buckets the stream has: a power of two from 2 to 65,536. A row goes to the centre of its key's bucket. An
   * `IUniformStream` has a `hashBuckets` of its own. All producers of a key must agree on it.
   *
   * @default - the `hashBuckets` of the stream. If it has none, the MD5 of a partition key decides its shard
   */
  readonly hashBuckets?: number;

  /**
   * After how many tries the relay gives up a row that the stream does not take: it moves the row to the table `rejected`, and the
   * key of the row goes on. 1 or more.
   *
   * @default - the relay never gives up a row: the key of the row waits, and other keys go on
   */
  readonly maxTries?: number;
}

/**
 * A function that relays an outbox in Postgres to a Kinesis stream, in the order of the commits of each key: on a schedule,
 * as many at a time as there are ranges of keys, until its time is nearly up.
 *
 * It has a role that can write to its streams, log in to the database and write to its log group, and what Lambda needs to
 * connect it to the network. It writes metrics of the namespace `EvenShards`, with the dimension `FunctionName`.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a stream or the network is known to be in another account or region,
 *   if a stream ignores partition keys, if two topics have the same stream, or if the schema, the schedule, the timeout, the
 *   record size limit, the hash buckets, the tries or the reserved concurrency are out of bounds
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
   * Imports a relay that exists, of another app, by its ARN: to watch it, and to allow its invocation. Nothing is
   * created, changed or looked up.
   *
   * Its role is unknown, so CDK warns of what is granted to it, or refuses: see `fromFunctionAttributes`.
   *
   * @param scope the construct to add the relay to, usually `this`
   * @param id the relay's name within the scope
   * @param functionArn the ARN of its function: `functionArn` in the app that has it
   */
  public static fromFunctionArn(scope: Construct, id: string, functionArn: string): IOutboxRelayFunction {
    return new ImportedOutboxRelayFunction(scope, id, { functionArn });
  }

  /**
   * Imports a relay that exists, of another app, with its role and its security group: what is granted to it is added
   * to that role, if the role is of this account and may be changed, and connections are made through that group.
   *
   * @param scope the construct to add the relay to, usually `this`
   * @param id the relay's name within the scope
   * @param attributes the function, as `lambda.Function.fromFunctionAttributes` takes it
   */
  public static fromFunctionAttributes(
    scope: Construct,
    id: string,
    attributes: lambda.FunctionAttributes,
  ): IOutboxRelayFunction {
    return new ImportedOutboxRelayFunction(scope, id, attributes);
  }

  /** The function: to invoke it or to grant its invocation. */
  public readonly function: lambda.Function;

  /**
   * A function with a role, a log group, a security group and a schedule of its own.
   *
   * @param scope the construct to add it to, usually `this`
   * @param id its name within the scope
   * @param props from where to where, and how to run
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
        description: 'Relays an outbox in Postgres to a Kinesis stream, in order per partition key',
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
          // The certificates of RDS; Node.js does not trust them by itself. Source: the Lambda developer guide, Node.js.
          NODE_EXTRA_CA_CERTS: '/var/runtime/ca-cert.pem',
        },
        timeout: settings.timeout,
        memorySize: 512,
      },
      // An invocation that cannot run is dropped, not kept for when it can: the next is a minute away.
      { ...props, securityGroups, retryAttempts: 0, maxEventAge: Duration.minutes(1) },
    );
    for (const { stream } of streams) StreamProduceGrants.fromStream(stream).produce(this.function);
    database._allow(this.function);
    runOnSchedule(this, this.function, {
      description: 'Keeps the relay of an outbox at work',
      schedule: settings.schedule,
      retryAttempts: 0,
    });
  }
}

/** The relay of an outbox that another app has. It adds nothing to the template. */
class ImportedOutboxRelayFunction extends OutboxRelayFunctionBase {
  public readonly function: lambda.IFunction;

  constructor(scope: Construct, id: string, attributes: lambda.FunctionAttributes) {
    super(scope, id);
    this.function = lambda.Function.fromFunctionAttributes(this, 'Function', attributes);
  }
}

interface RelayStream extends OrderedStreamSettings {
  /** Absent if all rows go to this stream. */
  readonly topic?: string;
}

/** What a relay is built from: its properties, checked, and with their defaults. */
interface RelaySettings {
  readonly streams: readonly RelayStream[];
  readonly aggregation: boolean;
  readonly database: OutboxRelayDatabase;
  readonly schema?: string;
  /** As JSON. */
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
  props.seconds('timeout', INVOCATIONS);
  return {
    streams: relayStreams(relay, props, given),
    aggregation: props.value('aggregation'),
    database: given.database,
    schema,
    cloudEvents: knownEnvelope(relay, given.cloudEvents),
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
    throw props.refusal('stream', received, 'given if and only if streamsByTopic is not');
  }
  if (stream !== undefined) return [orderedStreamSettings(relay, 'stream', stream, given)];
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
      // A consumer would take rows of one topic for duplicates of later rows of the other topic.
      const allowed = `a stream of its own, and no other topic's: the topic ${other} has it`;
      throw new InvalidArgumentError(constructField(relay, property), each.node.path, allowed);
    }
    topics.set(name, topic);
    return { topic, ...orderedStreamSettings(relay, property, each, given) };
  });
}

/** How the function hears of its streams. */
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
  const environment = { [STREAMS]: Stack.of(relay).toJsonString(Object.fromEntries(byTopic)) };
  checkEnvironmentSize(
    relay,
    constructField(relay, 'streamsByTopic'),
    environment,
    'give several outboxes fewer topics each',
  );
  return environment;
}

function knownEnvelope(relay: IConstruct, options: OutboxCloudEventsOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  const { source, defaultType } = options;
  inConstructTerms(relay, 'cloudEvents', () => checkEnvelope({ source, defaultType }));
  return Stack.of(relay).toJsonString({ source, defaultType });
}

/** Lambda ends an invocation after 15 minutes. */
const INVOCATIONS = { min: Duration.minutes(1), max: Duration.minutes(15) };

/** What a row of the outbox can have. */
const LONGEST_TOPIC = 256;

/** Each start in the same hour as the one before, or in the next, whatever the day. */
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
    'one that starts the relay at least once in each hour of each day, such as rate(1 minute): rows wait until then';
  throw props.refusal('schedule', expression, allowed);
}
