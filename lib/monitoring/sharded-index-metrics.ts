import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IShardedIndex } from '../table/i-sharded-index';
import { REPORTING_PERIOD } from './function-metric';

/**
 * CloudWatch's metrics of a single index, apart from those of its table.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export class ShardedIndexMetrics {
  /**
   * Metrics of one index.
   *
   * @param index the index, of this app or imported
   */
  public static fromIndex(index: IShardedIndex): ShardedIndexMetrics {
    return new ShardedIndexMetrics(index);
  }

  private constructor(private readonly index: IShardedIndex) {}

  /**
   * Any metric that DynamoDB has for an index, summed over a minute.
   *
   * @param metricName CloudWatch's name for it
   * @param options statistic, period and looks
   */
  public metric(metricName: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: this.index.table.tableName, GlobalSecondaryIndexName: this.index.indexName },
      statistic: cloudwatch.Stats.SUM,
      period: REPORTING_PERIOD,
      ...options,
    });
  }

  /**
   * Write units that the index has consumed.
   *
   * @param options statistic, period and looks
   */
  public metricConsumedWriteCapacityUnits(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedWriteCapacityUnits', options);
  }

  /**
   * Read units that queries of the index have consumed.
   *
   * @param options statistic, period and looks
   */
  public metricConsumedReadCapacityUnits(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedReadCapacityUnits', options);
  }

  /**
   * Writes that one partition of the index has refused because it got more than the 1,000 units a second it takes: a hot
   * shard, which holds up the writes to the table. The index needs more shards for its busiest value.
   *
   * @param options statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricWriteKeyRangeThroughputThrottleEvents(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteKeyRangeThroughputThrottleEvents', options);
  }

  /**
   * Reads that one partition of the index has refused because it got more than the 3,000 units a second it takes.
   *
   * @param options statistic, period and looks
   */
  public metricReadKeyRangeThroughputThrottleEvents(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', options);
  }

  /**
   * Writes to the index that were refused, for whatever reason.
   *
   * @param options statistic, period and looks
   */
  public metricWriteThrottleEvents(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', options);
  }

  /**
   * Reads of the index that were refused, for whatever reason.
   *
   * @param options statistic, period and looks
   */
  public metricReadThrottleEvents(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', options);
  }

  /**
   * Write units consumed while the index is being built from the items that the table has already: they are not part of
   * the consumed write units.
   *
   * @param options statistic, period and looks
   */
  public metricOnlineIndexConsumedWriteCapacity(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('OnlineIndexConsumedWriteCapacity', options);
  }
}
