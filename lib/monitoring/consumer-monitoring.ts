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
 * The metrics of one consumer of a stream, which show how far the consumer is behind. `ShardMonitoring.addConsumer` watches them.
 *
 * The metrics of the stream do not show a single consumer. They mix all consumers that poll, exclude consumers with enhanced fan-out, and
 * contain nothing about a consumer that has stopped.
 */
export class StreamConsumerMetrics {
  /**
   * The metrics of a Lambda function with an event source mapping to the stream. The metric is `IteratorAge` of Lambda. While Lambda retries
   * a batch, it does not read the stream again, and `IteratorAge` still grows.
   *
   * If the event source mapping filters records, Lambda does not invoke the function for a batch in which every record is filtered out. Set
   * `ConsumerMonitoringOptions.silenceAlarm` to `false` for such a function.
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
   * The metrics of an ordered consumer: `IteratorAge` of its function, and the metrics that the consumer writes about
   * its parked keys and about the cause of slow batches.
   *
   * @param consumer the consumer, defined in this app or imported
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
   * The metrics of a registered consumer with enhanced fan-out. The metric is `SubscribeToShardEvent.MillisBehindLatest` of Kinesis.
   *
   * @param stream the stream that the consumer reads
   * @param consumerName the name of the registered consumer
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
   * The metrics of a consumer that measures its own delay, and writes the delay as a metric. For example, pass
   * `MillisBehindLatest` of the Kinesis Client Library, in the namespace of the application, or `millisBehindLatest`
   * of Apache Flink.
   *
   * @param consumerName a name for the dashboard and the alarm
   * @param millisBehindLatest the metric, in milliseconds. It must have a value for every minute in which the consumer reads
   */
  public static fromMetric(consumerName: string, millisBehindLatest: cloudwatch.Metric): StreamConsumerMetrics {
    return new StreamConsumerMetrics(idOf(consumerName), consumerName, millisBehindLatest);
  }

  /**
   * The metrics of all consumers that poll a stream. They show the consumer that is furthest behind.
   *
   * @param stream the stream that the consumers read
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
   * How many milliseconds the consumer is behind the end of the stream: the maximum over the shards.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricMillisBehindLatest(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.behind.with({ statistic: cloudwatch.Stats.MAXIMUM, period: DEFAULT_PERIOD, ...props });
  }

  /**
   * How often the consumer has reported its metric. A consumer that has stopped reports nothing.
   *
   * Sample count over 5 minutes by default.
   *
   * @param props the period, label and color of the metric; the statistic is fixed
   */
  public metricReports(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.behind.with({ period: DEFAULT_PERIOD, ...props, statistic: cloudwatch.Stats.SAMPLE_COUNT });
  }
}

/** Consumers whose name is a token share one id, because the name is unknown until deployment. */
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

/** Options of `ShardMonitoring.addConsumer`: thresholds and alarms of one consumer of a stream. */
export interface ConsumerMonitoringOptions {
  /**
   * How far the consumer may be behind for 15 minutes. Keep this time well below the retention period of the stream,
   * because records that are older than that period are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * Whether the alarm `behind` is also raised when writers write records to the stream and the consumer reports
   * nothing for 15 minutes.
   *
   * @default true
   */
  readonly silenceAlarm?: boolean;

  /**
   * How long a record may block its key in an ordered consumer: at least 1 second.
   *
   * @default - 1 hour
   */
  readonly maxParkedTime?: Duration;
}

/** The alarms of a consumer. Only an ordered consumer has the alarms of parked keys. */
export interface ConsumerAlarms extends WatchedAlarms {
  /** The consumer is behind, or it does not read. */
  readonly behind?: cloudwatch.Alarm;
  /** Keys are dead: the consumer retries their records only after a person resumes the keys. */
  readonly deadKeys?: cloudwatch.Alarm;
  /** A key is parked for too long, or no replay of parked keys runs. */
  readonly parked?: cloudwatch.Alarm;
}

/** A consumer and its stream. */
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
      `Keys of the consumer ${consumer.consumerName} are dead: one record of each key reached the maximum of attempts or of time, and ` +
      'all later records of the key wait. No record is lost. Run even-shards parked to see the keys and their last errors. Fix the cause, ' +
      `then resume the keys or skip the record.${seeMonitoring('dead-keys')}`,
    threshold: 0,
    evaluationPeriods: 1,
  };
}

/** The replay function writes the metric at least once in 15 minutes. Two periods without a value mean that the function does not run. */
function parkedTooLong(
  monitoring: IConstruct,
  consumer: IOrderedStreamConsumer,
  options: ConsumerMonitoringOptions,
): AlarmDefinition {
  const props = Props.of(monitoring, options, { maxParkedTime: Duration.hours(1) });
  const limit = props.seconds('maxParkedTime', { min: Duration.seconds(1) });
  const parked = consumer.metric(CONSUMER_METRICS.parkedSeconds, { period: Duration.minutes(15) });
  return {
    severity: 'page',
    metric: reportedOrSilent(consumer, 'seconds that the oldest key is parked', parked, limit),
    description:
      `A record blocks its key of the consumer ${consumer.consumerName} for ${props.value('maxParkedTime').toHumanString()} or more, or no ` +
      'replay of parked keys runs. Run even-shards parked to see the keys and their last errors. If no key is parked, check that the ' +
      `schedule of the replay invokes the function and that its runs end.${seeMonitoring('keys-are-parked-for-long')}`,
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    // The evaluated time must contain the last value, so the alarm evaluates the two periods without a value and the
    // period before them.
    evaluationPeriods: 3,
    datapointsToAlarm: 2,
    treatMissingData: cloudwatch.TreatMissingData.IGNORE,
  };
}

/**
 * An alarm for a consumer that is behind or does not read.
 *
 * Metric math treats a missing value as 0 if the other operand has a value. So `0 * written + reports` is 0 in a period in
 * which writers write records and the consumer reports nothing.
 */
export function consumerBehind(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  options: ConsumerMonitoringOptions,
): AlarmDefinition {
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  const props = Props.of(monitoring, options, { maxIteratorAge: Duration.hours(1) });
  const limit = props.milliseconds('maxIteratorAge', { min: Duration.millis(1), resolved: true });
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
      `A consumer of the stream ${stream.streamName} is ${props.value('maxIteratorAge').toHumanString()} or more behind, or does not read. ` +
      'Records that are older than the retention period of the stream are lost. Check whether the consumer fails or has stopped. ' +
      `${advice(consumer)} More shards help the consumer only with records that are written later.` +
      seeMonitoring('a-consumer-is-behind'),
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods,
  };
}

function advice({ _ordered: ordered }: StreamConsumerMetrics): string {
  if (ordered === undefined) return 'If the consumer works but is too slow, give it more parallelism.';
  return (
    'If the consumer works but is too slow, its dashboard shows the cause: throttles (give the function concurrency), busy handlers ' +
    '(make the handler faster, or increase concurrency or parallelizationFactor), or a long key (the records of one key take too long: ' +
    'make the handler faster).'
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
