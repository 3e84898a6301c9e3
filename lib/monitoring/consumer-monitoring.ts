import { Duration, Names, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { DEFAULT_PERIOD } from '../construct/metric-definition';
import { Props } from '../construct/props';
import { CONSUMER_METRICS } from '../core/contract/function-metrics';
import type { IOrderedStreamConsumer } from '../stream/consumer/ordered-stream-consumer';
import {
  type AlarmDefinition,
  type AlarmTable,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_TIMES_FIVE_MINUTES,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import { reportedOrSilent } from './silence';
import type { Watch } from './watch';

/**
 * How far one consumer of a stream is behind, whichever way it reads. `ShardMonitoring.addConsumer` watches it.
 *
 * The metrics of the stream itself mix all consumers that poll, and leave out those with enhanced fan-out. A consumer that
 * has stopped is not in them at all.
 */
export class StreamConsumerMetrics {
  /**
   * A Lambda function with an event source mapping to the stream. The metric is `IteratorAge` of Lambda: it grows while
   * Lambda retries a batch, whose records nobody reads from the stream again.
   *
   * If the event source mapping filters records, a batch of which nothing is left does not reach the function. Do not
   * watch the silence of such a function: see `ConsumerMonitoringOptions.silenceAlarm`.
   *
   * @param consumer the function
   */
  public static fromFunction(consumer: lambda.IFunction): StreamConsumerMetrics {
    return new StreamConsumerMetrics(
      Names.nodeUniqueId(consumer.node),
      consumer.functionName,
      consumer.metric('IteratorAge'),
    );
  }

  /**
   * An ordered consumer. Besides `IteratorAge` of its function it has what the consumer writes of its parked keys, and of why its
   * batches take as long as they do.
   *
   * @param consumer the consumer, of this app or imported
   */
  public static fromOrderedConsumer(consumer: IOrderedStreamConsumer): StreamConsumerMetrics {
    return new StreamConsumerMetrics(
      Names.nodeUniqueId(consumer.node),
      consumer.consumerName,
      functionMetric(consumer, 'IteratorAge'),
      consumer,
    );
  }

  /**
   * A registered consumer with enhanced fan-out. The metric is `SubscribeToShardEvent.MillisBehindLatest` of Kinesis.
   *
   * @param stream the stream that it reads
   * @param consumerName the name that it is registered with
   */
  public static fromEnhancedFanOut(stream: kinesis.IStream, consumerName: string): StreamConsumerMetrics {
    return new StreamConsumerMetrics(
      idOf(consumerName),
      consumerName,
      new cloudwatch.Metric({
        namespace: 'AWS/Kinesis',
        metricName: 'SubscribeToShardEvent.MillisBehindLatest',
        dimensionsMap: { StreamName: stream.streamName, ConsumerName: consumerName },
      }),
    );
  }

  /**
   * A consumer that reports by itself how far it is behind, such as `MillisBehindLatest` of the Kinesis Client Library, in
   * the namespace of the application, or `millisBehindLatest` of Apache Flink.
   *
   * @param consumerName a name for the dashboard and the alarm
   * @param millisBehindLatest the metric, in milliseconds. It must have a value for every minute in which it reads
   */
  public static fromMetric(consumerName: string, millisBehindLatest: cloudwatch.Metric): StreamConsumerMetrics {
    return new StreamConsumerMetrics(idOf(consumerName), consumerName, millisBehindLatest);
  }

  /**
   * All consumers of a stream that poll it, together: the one that is furthest behind.
   *
   * @param stream the stream that they read
   */
  public static fromPolling(stream: kinesis.IStream): StreamConsumerMetrics {
    return new StreamConsumerMetrics('Polling', stream.streamName, stream.metricGetRecordsIteratorAgeMilliseconds());
  }

  private constructor(
    /** @internal */
    public readonly _id: string,
    /** The name of the consumer. */
    public readonly consumerName: string,
    private readonly behind: cloudwatch.Metric,
    /** @internal */
    public readonly _ordered?: IOrderedStreamConsumer,
  ) {}

  /**
   * How many milliseconds the consumer is behind the end of the stream: the maximum over its shards.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricMillisBehindLatest(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.behind.with({ statistic: cloudwatch.Stats.MAXIMUM, period: DEFAULT_PERIOD, ...props });
  }

  /**
   * How often the consumer has reported. A consumer that has stopped reports nothing.
   *
   * Sample count over 5 minutes by default.
   *
   * @param props its period, label and color; the statistic is fixed
   */
  public metricReports(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.behind.with({ period: DEFAULT_PERIOD, ...props, statistic: cloudwatch.Stats.SAMPLE_COUNT });
  }
}

/** Two consumers whose names only a deployment knows need metrics from different constructs. */
function idOf(consumerName: string): string {
  return Token.isUnresolved(consumerName) ? 'Consumer' : consumerName;
}

function functionMetric(
  { functionName }: IOrderedStreamConsumer,
  metricName: string,
  props?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  const dimensionsMap = { FunctionName: functionName };
  return new cloudwatch.Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, ...props });
}

/** What is watched of one consumer of a stream. */
export interface ConsumerMonitoringOptions {
  /**
   * How far behind the consumer may be for 15 minutes. Keep it well below the stream's retention period, after which
   * records are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * Whether to raise the alarm also when records are written to the stream and the consumer reports nothing for 15
   * minutes.
   *
   * @default true
   */
  readonly silenceAlarm?: boolean;

  /**
   * How long a record may hold up its key of an ordered consumer.
   *
   * @default - 1 hour
   */
  readonly maxParkedTime?: Duration;
}

/** The alarms of a consumer. Only an ordered consumer has the alarms of parked keys. */
export interface ConsumerAlarms extends WatchedAlarms {
  /** The consumer is behind, or it does not read. */
  readonly behind?: cloudwatch.Alarm;
  /** Keys are dead: nobody tries them any more. */
  readonly deadKeys?: cloudwatch.Alarm;
  /** A key is parked for too long, or nothing retries parked keys. */
  readonly parked?: cloudwatch.Alarm;
}

/** A consumer, and the stream that it reads. */
interface ConsumerOfStream {
  readonly stream: kinesis.IStream;
  readonly consumer: StreamConsumerMetrics;
}

export const consumerWatch: Watch<ConsumerOfStream, ConsumerMonitoringOptions, ConsumerAlarms> = {
  method: 'addConsumer',
  kind: 'a stream',
  resource: ({ stream }) => stream,
  part: ({ consumer }) => consumer._id,
  title: ({ consumer }) => `Consumer ${consumer.consumerName}`,
  alarms: consumerAlarms,
  widgets: consumerWidgets,
};

function consumerAlarms(
  monitoring: IConstruct,
  { stream, consumer }: ConsumerOfStream,
  options: ConsumerMonitoringOptions,
): AlarmTable<ConsumerAlarms> {
  const { _ordered: ordered } = consumer;
  return {
    behind: consumerBehind(monitoring, stream, consumer, options),
    ...(ordered && { deadKeys: deadKeys(ordered), parked: parkedTooLong(monitoring, ordered, options) }),
  };
}

function deadKeys(consumer: IOrderedStreamConsumer): AlarmDefinition {
  return {
    severity: 'ticket',
    metric: consumer.metric(CONSUMER_METRICS.deadKeys, { period: DEFAULT_PERIOD }),
    description:
      `Keys of the consumer ${consumer.consumerName} are dead: a record of each was tried as often or as long as it may be, and ` +
      'all its later records wait. No record is lost. The command even-shards parked lists them and says why. Repair the cause and ' +
      `resume them, or skip the record.${seeMonitoring('dead-keys')}`,
    threshold: 0,
    evaluationPeriods: 1,
  };
}

/** The retrier writes at least once in 15 minutes. If it does not in two such periods, it is not running. */
function parkedTooLong(
  monitoring: IConstruct,
  consumer: IOrderedStreamConsumer,
  options: ConsumerMonitoringOptions,
): AlarmDefinition {
  const props = Props.of(monitoring, options, { maxParkedTime: Duration.hours(1) });
  const limit = props.seconds('maxParkedTime');
  const parked = consumer.metric(CONSUMER_METRICS.parkedSeconds, { period: Duration.minutes(15) });
  return {
    severity: 'page',
    metric: reportedOrSilent(consumer, 'seconds that the oldest key is parked', parked, limit),
    description:
      `A record holds up its key of the consumer ${consumer.consumerName} for ${props.value('maxParkedTime').toHumanString()} or more, or nothing ` +
      'retries parked keys. The command even-shards parked lists them and says why. If nothing is parked, see whether the schedule of the ' +
      `retries invokes the function, and whether it ends.${seeMonitoring('keys-are-parked-for-long')}`,
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    // Two, and one in which the retrier was last heard of.
    evaluationPeriods: 3,
    datapointsToAlarm: 2,
    treatMissingData: cloudwatch.TreatMissingData.IGNORE,
  };
}

/**
 * Arithmetic takes a missing value for 0 where the other one has a value: `0 * written + reports` is 0 in a period in
 * which records are written and the consumer reports nothing.
 */
export function consumerBehind(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  options: ConsumerMonitoringOptions,
): AlarmDefinition {
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  const props = Props.of(monitoring, options, { maxIteratorAge: Duration.hours(1) });
  const limit = props.milliseconds('maxIteratorAge', { resolved: true });
  const behind = consumer.metricMillisBehindLatest({ period });
  const silent = new cloudwatch.MathExpression({
    expression: `IF(written > 0 AND 0 * written + reports < 1, ${limit}, 0)`,
    usingMetrics: {
      written: stream.metricIncomingRecords({ statistic: cloudwatch.Stats.SUM, period }),
      reports: consumer.metricReports({ period }),
    },
    period,
  });
  return {
    severity: 'page',
    metric:
      (options.silenceAlarm ?? true)
        ? new cloudwatch.MathExpression({
            expression: 'MAX([behind, silent])',
            usingMetrics: { behind, silent },
            label: 'milliseconds behind',
            period,
          })
        : behind,
    description:
      `A consumer of the stream ${stream.streamName} is ${props.value('maxIteratorAge').toHumanString()} behind or more, or does not read ` +
      'at all. It loses records once it is as far behind as the retention period. See whether it fails or has stopped. If ' +
      `${advice(consumer)} More shards help it only with what is written from then on.` +
      seeMonitoring('a-consumer-is-behind'),
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods,
  };
}

function advice({ _ordered: ordered }: StreamConsumerMetrics): string {
  if (ordered === undefined) return 'it works and is too slow, give it more parallelism.';
  return (
    'it works and is too slow, its dashboard tells why: throttles (give the function concurrency), busy handlers ' +
    '(make the handler faster, or increase concurrency or parallelizationFactor), or a long key (one key has more than its handler can ' +
    'do: make the handler faster).'
  );
}

function consumerWidgets({ stream, consumer }: ConsumerOfStream, alarms: ConsumerAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'How far behind it is, in milliseconds',
        [consumer.metricMillisBehindLatest({ period, label: 'milliseconds' })],
        { leftAnnotations: lines(alarms.behind) },
      ),
      graph('Whether it reads', [consumer.metricReports({ period, label: 'reports' })], {
        right: [stream.metricIncomingRecords({ statistic: cloudwatch.Stats.SUM, period, label: 'records' })],
      }),
    ],
    ...(consumer._ordered === undefined ? [] : [orderedWidgets(consumer._ordered, alarms)]),
  ];
}

function orderedWidgets(consumer: IOrderedStreamConsumer, alarms: ConsumerAlarms): Rows[number] {
  const period = REPORTING_PERIOD;
  const { parkedKeys, deadKeys, parkedSeconds, busyHandlers, longestKey } = CONSUMER_METRICS;
  return [
    graph(
      'Why it is slow, in percent',
      [
        consumer.metric(busyHandlers, { label: 'busy handlers', period }),
        consumer.metric(longestKey, { label: 'longest key', period }),
      ],
      {
        right: [functionMetric(consumer, 'Throttles', { statistic: cloudwatch.Stats.SUM, label: 'throttles', period })],
      },
    ),
    graph(
      'Parked keys',
      [consumer.metric(parkedKeys, { label: 'parked', period }), consumer.metric(deadKeys, { label: 'dead', period })],
      { leftAnnotations: lines(alarms.deadKeys) },
    ),
    graph(
      'How long the oldest is held up, in seconds',
      [consumer.metric(parkedSeconds, { label: 'seconds', period })],
      {
        leftAnnotations: lines(alarms.parked),
      },
    ),
  ];
}
