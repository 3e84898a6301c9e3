import { Duration, Names, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IConstruct } from 'constructs';
import { DEFAULT_PERIOD } from '../construct/metric-definition';
import {
  type AlarmDefinition,
  knownDuration,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_TIMES_FIVE_MINUTES,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';

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
}

/** The alarm of a consumer. It is absent if alarms are switched off. */
export interface ConsumerAlarms {
  /** The consumer is behind, or it does not read. */
  readonly behind?: cloudwatch.Alarm;
}

/**
 * Arithmetic takes a missing value for 0 where the other one has a value: `0 * written + reports` is 0 in a period in
 * which records are written and the consumer reports nothing.
 */
export function consumerBehind(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  { maxIteratorAge = Duration.hours(1), silenceAlarm = true }: ConsumerMonitoringOptions,
): AlarmDefinition {
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  const limit = knownDuration(monitoring, 'maxIteratorAge', maxIteratorAge).toMilliseconds();
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
    metric: silenceAlarm
      ? new cloudwatch.MathExpression({
          expression: 'MAX([behind, silent])',
          usingMetrics: { behind, silent },
          label: 'milliseconds behind',
          period,
        })
      : behind,
    description:
      `A consumer of the stream ${stream.streamName} is ${maxIteratorAge.toHumanString()} behind or more, or does not read ` +
      'at all. It loses records once it is as far behind as the retention period. See whether it fails or has stopped. If ' +
      'it works and is too slow, give it more parallelism. More shards help it only with what is written from then on.' +
      seeMonitoring('a-consumer-is-behind'),
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods,
  };
}

export function consumerWidgets(
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  alarms: ConsumerAlarms,
): Rows {
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
  ];
}
