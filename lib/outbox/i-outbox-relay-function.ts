import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBundledFunction } from '../function/i-bundled-function';

/**
 * The relay of an outbox, of this app or imported by `OutboxRelayFunction.fromFunctionArn`. Its metrics are in the namespace
 * `EvenShards`.
 */
export interface IOutboxRelayFunction extends IBundledFunction {
  /**
   * Any metric that the function writes, twice a minute, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `WaitingRows`
   * @param props statistic, period and looks
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Rows that wait to be relayed, those that were rolled back included.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWaitingRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * The age of the oldest row that waits, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWaitingSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Rows that wait because their key does: a row of it was rejected, or it has many more rows than others.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricParkedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Rows that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricRelayedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * How often a row was rejected.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricRejections(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Rows that were moved to the table of the rejected rows.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricGivenUpRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
