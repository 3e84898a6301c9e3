import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { IShardedIndexRef } from './i-sharded-index-ref';
import type { ShardedIndexBindingOptions } from './sharded-index-binding-options';
import type { ShardedIndexGrants } from './sharded-index-grants';

/**
 * A sharded index, of a `ShardedTable` of this app or imported by `ShardedIndex.fromShardedIndexAttributes`.
 *
 * Give it to a `FanOutQueryFunction` to query it, and bind it to the functions of your own that write to the table, or
 * that query it themselves.
 */
export interface IShardedIndex extends IShardedIndexRef {
  /** Permissions for whatever queries this index or writes its items. */
  readonly grants: ShardedIndexGrants;

  /**
   * Lets a function write items so that they appear in this index: the function gets the index's configuration as an
   * environment variable, for `shardAttributes` and `shardUpdate` of `cdk-even-shards/core`, and may put and update items
   * of the table, and nothing else. With adaptive counts it may also read them: see `AdaptiveIndex`.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
   *
   * @param writer the function that writes
   * @param binding how the function is told
   */
  bindWriter(writer: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Lets a function query this index by itself: the function gets the index's configuration as an environment variable,
   * for `fanOutQuery` of `cdk-even-shards/core`, and may query the index, and nothing else. With adaptive counts it may also
   * read them: see `AdaptiveIndex`. Anything that is not a Node.js function invokes a `FanOutQueryFunction` instead.
   *
   * Throws an error with the code `INVALID_ARGUMENT` if Lambda does not take the name of the environment variable, if
   * the variable holds another index or what you have set yourself, or if the function is known to be in another
   * account or region than the table.
   *
   * @param reader the function that queries
   * @param binding how the function is told
   */
  bindReader(reader: lambda.Function, binding?: ShardedIndexBindingOptions): iam.Grant;

  /**
   * Everything that an application must know to write to the index and to query it, as JSON: put it into an
   * environment variable, and hand the parsed object (`ShardedIndexConfig`) to `shardAttributes` and `fanOutQuery` of
   * `cdk-even-shards/core`.
   *
   * The name of a table that the app creates is resolved when the stack is deployed.
   */
  toConfigJson(): string;

  /**
   * The same index of a replica of the table, in another region: for functions that run there.
   *
   * Throws what `TableV2.replica` throws for a table of this app that has no replica in the region.
   *
   * @param region the region of the replica
   */
  onReplica(region: string): IShardedIndex;

  /**
   * Any metric that DynamoDB writes of the index, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `WriteThrottleEvents`
   * @param props statistic, period and looks
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Write units that the index has consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricConsumedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Read units that queries of the index have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricConsumedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Write units a second that are provisioned for the index, of a table that is not billed on demand.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricProvisionedWriteCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Read units a second that are provisioned for the index, of a table that is not billed on demand.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricProvisionedReadCapacityUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes to the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWriteThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads of the index that were throttled, for whatever reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricReadThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled because a partition of the index got more than the 1,000 units a second that it
   * takes. They hold up the writes to the table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  metricWriteKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads that were throttled because a partition of the index got more than the 3,000 units a second that it takes.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/throttling-key-range-limit-exceeded-mitigation.html
   */
  metricReadKeyRangeThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled because the index has consumed the write capacity that is provisioned for it.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWriteProvisionedThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads that were throttled because the index has consumed the read capacity that is provisioned for it.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricReadProvisionedThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled because the index has reached its `maxWriteRequestUnits`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWriteMaxOnDemandThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads that were throttled because the index has reached its `maxReadRequestUnits`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricReadMaxOnDemandThroughputThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled because of the quotas of the account.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWriteAccountLimitThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Reads that were throttled because of the quotas of the account.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricReadAccountLimitThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Write units consumed while the index is built from the items that the table has already. They are not part of
   * the consumed write units.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricOnlineIndexConsumedWriteCapacity(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * How far the index is built, in percent.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricOnlineIndexPercentageProgress(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Writes that were throttled while the index is built. They hold up the building, not the writes to the table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricOnlineIndexThrottleEvents(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
