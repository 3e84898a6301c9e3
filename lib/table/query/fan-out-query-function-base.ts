import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { QUERY_METRICS } from '../../core/foundation/function-metrics';
import { QueryFunctionBase } from '../../function/query-function';
import type { IFanOutQueryFunction } from './i-fan-out-query-function';

/**
 * What every function has that queries sharded indexes, of this app or imported.
 *
 * @internal
 */
export abstract class FanOutQueryFunctionBase extends QueryFunctionBase implements IFanOutQueryFunction {
  /**
   * Read units that pages have consumed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricConsumedReadUnits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.consumedReadUnits, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Pages and counts that came from the memory of a function with a `cache`.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricCacheHits(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.cacheHits, { statistic: cloudwatch.Stats.SUM, ...props });
  }
}
