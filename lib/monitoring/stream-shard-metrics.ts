import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';

/**
 * Metrics of the single shards of a stream, which the metrics of the whole stream hide: a line a shard, whichever shards
 * there are. They are search expressions, good for dashboards; CloudWatch has no alarms on them. A search finds 500 lines at
 * most, of shards that had data in the last two weeks, closed ones included: of a stream with more, some are missing.
 *
 * CloudWatch has them for a stream whose shard-level metrics are switched on, which `ShardMonitoring.addStream` does.
 *
 * @see https://docs.aws.amazon.com/streams/latest/dev/monitoring-with-cloudwatch.html
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
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
   * Any metric that Kinesis writes of each shard, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `IncomingBytes`
   * @param statistic one of the names of CloudWatch
   * @param props period and looks
   */
  public metric(
    metricName: string,
    statistic: string = cloudwatch.Stats.AVERAGE,
    props?: cloudwatch.MathExpressionOptions,
  ): cloudwatch.MathExpression {
    return expression((periodSeconds) => this.search(metricName, statistic, periodSeconds), props);
  }

  /**
   * Bytes put into each shard. A shard takes 1 MB a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricIncomingBytes(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('IncomingBytes', cloudwatch.Stats.SUM, props);
  }

  /**
   * Records put into each shard. A shard takes 1,000 a second.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricIncomingRecords(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('IncomingRecords', cloudwatch.Stats.SUM, props);
  }

  /**
   * Bytes that `GetRecords` has read from each shard.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricOutgoingBytes(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('OutgoingBytes', cloudwatch.Stats.SUM, props);
  }

  /**
   * Records that `GetRecords` has read from each shard.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricOutgoingRecords(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('OutgoingRecords', cloudwatch.Stats.SUM, props);
  }

  /**
   * How far the consumer that is furthest behind is behind the end of each shard, in milliseconds, of those that call
   * `GetRecords`.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricIteratorAgeMilliseconds(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('IteratorAgeMilliseconds', cloudwatch.Stats.MAXIMUM, props);
  }

  /**
   * Records that each shard has refused because it was given more than it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricWriteProvisionedThroughputExceeded(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('WriteProvisionedThroughputExceeded', cloudwatch.Stats.SUM, props);
  }

  /**
   * Calls of `GetRecords` that each shard has refused because it was asked for more than it gives.
   *
   * Sum over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricReadProvisionedThroughputExceeded(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.metric('ReadProvisionedThroughputExceeded', cloudwatch.Stats.SUM, props);
  }

  /**
   * How many times the mean the hottest shard gets, in bytes: 1 is perfectly even, and a stream of `n` shards can do the
   * work of `n` divided by this. Shards that report nothing do not count.
   *
   * Over 5 minutes by default.
   *
   * @param props period and looks
   */
  public metricHottestToMeanBytes(props?: cloudwatch.MathExpressionOptions): cloudwatch.MathExpression {
    return this.hottestToMean('IncomingBytes', props);
  }

  /**
   * How many times the mean the hottest shard gets, in records: 1 is perfectly even.
   *
   * Over 5 minutes by default.
   *
   * @param props period and looks
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
  const period = props?.period ?? Duration.minutes(5);
  return new cloudwatch.MathExpression({ expression: write(period.toSeconds()), usingMetrics: {}, ...props, period });
}
