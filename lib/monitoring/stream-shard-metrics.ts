import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { REPORTING_PERIOD } from './function-metric';

/**
 * Metrics of the single shards of a stream, which the metrics of the whole stream hide: a line a shard, whichever shards
 * there are. They are search expressions, good for dashboards; CloudWatch has no alarms on them.
 *
 * CloudWatch has them for a stream whose shard-level metrics are switched on, which `ShardMonitoring.addStream` does.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/monitoring-with-cloudwatch.html
 */
export class StreamShardMetrics {
  /**
   * Metrics of any stream, imported ones included.
   *
   * @param stream the stream
   */
  public static fromStream(stream: kinesis.IStream): StreamShardMetrics {
    return new StreamShardMetrics(stream);
  }

  private constructor(private readonly stream: kinesis.IStream) {}

  /**
   * Bytes put into each shard, summed over a period. A shard takes 1 MB a second.
   *
   * @param options period and looks
   */
  public metricIncomingBytes(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.byShard('IncomingBytes', options);
  }

  /**
   * Records put into each shard, summed over a period. A shard takes 1,000 a second.
   *
   * @param options period and looks
   */
  public metricIncomingRecords(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.byShard('IncomingRecords', options);
  }

  /**
   * Records that each shard has refused because it was given more than it takes, summed over a period.
   *
   * @param options period and looks
   */
  public metricWriteProvisionedThroughputExceeded(
    options?: cloudwatch.MathExpressionOptions,
  ): cloudwatch.MathExpression {
    return this.byShard('WriteProvisionedThroughputExceeded', options);
  }

  /**
   * How many times the mean the hottest shard gets, in bytes: 1 is perfectly even, and a stream of `n` shards can do the
   * work of `n` divided by this. Shards that report nothing do not count.
   *
   * @param options period and looks
   */
  public metricHottestToMeanBytes(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.hottestToMean('IncomingBytes', options);
  }

  /**
   * How many times the mean the hottest shard gets, in records: 1 is perfectly even.
   *
   * @param options period and looks
   */
  public metricHottestToMeanRecords(options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.hottestToMean('IncomingRecords', options);
  }

  private byShard(metricName: string, options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return expression((periodSeconds) => this.search(metricName, periodSeconds), options);
  }

  private hottestToMean(metricName: string, options?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return expression((periodSeconds) => {
      const shards = this.search(metricName, periodSeconds);
      return `MAX(${shards}) / AVG(${shards})`;
    }, options);
  }

  private search(metricName: string, periodSeconds: number): string {
    const schema = '{AWS/Kinesis,ShardId,StreamName}';
    return `SEARCH('${schema} MetricName="${metricName}" StreamName="${this.stream.streamName}"', 'Sum', ${periodSeconds})`;
  }
}

function expression(
  write: (periodSeconds: number) => string,
  options?: cloudwatch.MathExpressionOptions,
): cloudwatch.MathExpression {
  const period = options?.period ?? REPORTING_PERIOD;
  return new cloudwatch.MathExpression({ expression: write(period.toSeconds()), usingMetrics: {}, ...options, period });
}
