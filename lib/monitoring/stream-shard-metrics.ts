import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { DEFAULT_PERIOD, type MetricFamily, maximum, statisticOf, sum } from '../construct/metric-definition';

/** The metrics that Kinesis writes for each shard. Source: the Kinesis developer guide, "Monitoring with CloudWatch", shard-level metrics. */
export const SHARD_METRICS = {
  namespace: 'AWS/Kinesis',
  dimensions: ['StreamName', 'ShardId'],
  metrics: {
    IncomingBytes: sum('Bytes'),
    IncomingRecords: sum('Count'),
    OutgoingBytes: sum('Bytes'),
    OutgoingRecords: sum('Count'),
    IteratorAgeMilliseconds: maximum('Milliseconds'),
    WriteProvisionedThroughputExceeded: sum('Count'),
    ReadProvisionedThroughputExceeded: sum('Count'),
  },
} as const satisfies MetricFamily;

/**
 * Metrics of the single shards of a stream, with one line for each shard. The metrics of the whole stream do not show a hot shard.
 *
 * The metrics are search expressions. Use them on dashboards, because CloudWatch allows no alarms on search
 * expressions. A search returns at most 500 shards that had data in the last two weeks, including closed shards. For a
 * larger stream, some shards are missing from the result.
 *
 * CloudWatch has values only if shard-level metrics of the stream are enabled. `ShardMonitoring.addStream` enables them.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/monitoring-with-cloudwatch.html
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
 */
export class StreamShardMetrics {
  /**
   * Metrics of a stream, defined in this app or imported.
   *
   * @param stream the stream
   */
  public static fromStream(stream: kinesis.IStream): StreamShardMetrics {
    return new StreamShardMetrics(stream);
  }

  private constructor(private readonly stream: kinesis.IStream) {}

  /**
   * A shard-level metric of Kinesis, by its name. The guide to metrics lists the names.
   *
   * Over 5 minutes by default.
   *
   * @param metricName the name of the metric, such as `IteratorAgeMilliseconds`
   * @param statistic a statistic of CloudWatch; the default is the statistic of this metric in the guide to metrics
   * @param props the period, label and color of the metric
   */
  public metric(
    metricName: string,
    statistic: string = statisticOf(SHARD_METRICS, metricName),
    props?: cloudwatch.MathExpressionOptions,
  ): cloudwatch.MathExpression {
    return expression((periodSeconds) => this.search(metricName, statistic, periodSeconds), props);
  }

  /**
   * Bytes that were put into each shard. The limit of a shard is 1 MB a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the period, label and color of the metric
   */
  public metricIncomingBytes(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('IncomingBytes', undefined, props);
  }

  /**
   * Records that were put into each shard. The limit of a shard is 1,000 records a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the period, label and color of the metric
   */
  public metricIncomingRecords(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('IncomingRecords', undefined, props);
  }

  /**
   * Records that each shard throttled.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the period, label and color of the metric
   */
  public metricWriteProvisionedThroughputExceeded(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('WriteProvisionedThroughputExceeded', undefined, props);
  }

  /**
   * The bytes of the hottest shard, divided by the mean bytes of a shard. At 1, the shards are perfectly even. At 2, a
   * stream of `n` shards can accept only the load of `n / 2` shards. The mean excludes shards that report nothing.
   *
   * Over 5 minutes by default.
   *
   * @param props the period, label and color of the metric
   */
  public metricHottestToMeanBytes(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.hottestToMean('IncomingBytes', props);
  }

  /**
   * The records of the hottest shard, divided by the mean number of records of a shard. At 1, the shards are perfectly
   * even.
   *
   * Over 5 minutes by default.
   *
   * @param props the period, label and color of the metric
   */
  public metricHottestToMeanRecords(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.hottestToMean('IncomingRecords', props);
  }

  private hottestToMean(metricName: string, props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return expression((periodSeconds) => {
      const shards = this.search(metricName, cloudwatch.Stats.SUM, periodSeconds);
      return `MAX(${shards}) / AVG(${shards})`;
    }, props);
  }

  private search(metricName: string, statistic: string, periodSeconds: number): string {
    const schema = '{AWS/Kinesis,ShardId,StreamName}';
    const { streamName } = this.stream;
    return `SEARCH('${schema} MetricName="${metricName}" StreamName="${streamName}"', '${statistic}', ${periodSeconds})`;
  }
}

function expression(
  write: (periodSeconds: number) => string,
  props?: cloudwatch.MathExpressionOptions,
): cloudwatch.MathExpression {
  const period = props?.period ?? DEFAULT_PERIOD;
  return new cloudwatch.MathExpression({ expression: write(period.toSeconds()), usingMetrics: {}, ...props, period });
}
