import { Duration, Names, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type * as lambda from 'aws-cdk-lib/aws-lambda';

const DEFAULT_PERIOD = Duration.minutes(5);

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
