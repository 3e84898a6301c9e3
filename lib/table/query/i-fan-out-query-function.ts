import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueryFunction } from '../../function/query-function';

/** A function that queries sharded indexes, of this app or imported by `FanOutQueryFunction.fromFunctionArn`. */
export interface IFanOutQueryFunction extends IQueryFunction {
  /**
   * Read units that pages have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricConsumedReadUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Pages and counts that came from the memory of a function with a `cache`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
