import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IShardedIndexRef } from './i-sharded-index-ref';

/**
 * What every sharded index has: the metrics that DynamoDB writes of it, apart from those of its table.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export abstract class ShardedIndexBase implements IShardedIndexRef {
  /** The table the index belongs to. */
  public abstract readonly table: dynamodb.ITableV2;
  /** The name of the index. */
  public abstract readonly indexName: string;
  /** The ARN of the index: `<table ARN>/index/<index name>`. */
  public abstract readonly indexArn: string;
  /** The table that holds the counts of the values that have grown. Undefined if the counts are fixed. */
  public abstract readonly shardCountTable?: dynamodb.ITableV2;

  /**
   * Any metric that DynamoDB writes of the index, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props statistic, period and looks
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: this.table.tableName, GlobalSecondaryIndexName: this.indexName },
      statistic: cloudwatch.Stats.AVERAGE,
      period: Duration.minutes(5),
      ...props,
    }).attachTo(this.table);
  }

  /**
   * Write units that the index has consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricConsumedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedWriteCapacityUnits', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Read units that queries of the index have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricConsumedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ConsumedReadCapacityUnits', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Write units a second that are provisioned for the index, of a table that is not billed on demand.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricProvisionedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ProvisionedWriteCapacityUnits', { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Read units a second that are provisioned for the index, of a table that is not billed on demand.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricProvisionedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ProvisionedReadCapacityUnits', { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Writes to the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Reads of the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Writes that were throttled because a partition of the index got more than the 1,000 units a second that it
   * takes. They hold up the writes to the table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteKeyRangeThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Reads that were throttled because a partition of the index got more than the 3,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  public metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadKeyRangeThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Writes that were throttled because the index has consumed the write capacity that is provisioned for it.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWriteProvisionedThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteProvisionedThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Reads that were throttled because the index has consumed the read capacity that is provisioned for it.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricReadProvisionedThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadProvisionedThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Writes that were throttled because the index has reached its `maxWriteRequestUnits`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWriteMaxOnDemandThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteMaxOnDemandThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Reads that were throttled because the index has reached its `maxReadRequestUnits`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricReadMaxOnDemandThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadMaxOnDemandThroughputThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Writes that were throttled because of the quotas of the account.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWriteAccountLimitThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('WriteAccountLimitThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Reads that were throttled because of the quotas of the account.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricReadAccountLimitThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('ReadAccountLimitThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Write units consumed while the index is built from the items that the table has already. They are not part of
   * the consumed write units.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricOnlineIndexConsumedWriteCapacity(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('OnlineIndexConsumedWriteCapacity', { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * How far the index is built, in percent.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricOnlineIndexPercentageProgress(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('OnlineIndexPercentageProgress', { statistic: cloudwatch.Stats.MAXIMUM, ...props });
  }

  /**
   * Writes that were throttled while the index is built. They hold up the building, not the writes to the table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricOnlineIndexThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric('OnlineIndexThrottleEvents', { statistic: cloudwatch.Stats.SUM, ...props });
  }
}
