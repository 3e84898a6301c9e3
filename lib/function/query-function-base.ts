import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { QUERY_METRICS } from '../core/foundation/function-metrics';
import { BundledFunctionBase } from './bundled-function-base';
import { functionMetric } from './function-metric';
import type { IQueryFunction } from './i-query-function';

/**
 * What every function has that queries all shards of something: the metrics that it writes of its pages.
 *
 * @internal
 */
export abstract class QueryFunctionBase extends BundledFunctionBase implements IQueryFunction {
  /**
   * Any metric that the function writes, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `Pages`
   * @param props statistic, period and looks
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this, metricName, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Pages answered.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricPages(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.pages, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Requests that a page takes: as many as it has shards, and some for shards that were read to their end.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.requests, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Rounds of requests that wait for each other, for a page: 1 is the fewest.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWaves(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.waves, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Items that pages hold.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricItemsReturned(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.itemsReturned, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items that were read for pages.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricItemsRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.itemsRead, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Items read for each item returned: 1 is a query that reads nothing in vain.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricOverRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.overRead, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Requests that the service has throttled. They are sent again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricThrottledRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.throttledRequests, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Requests that were sent a second time because the first answer was late.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricHedgedRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.hedgedRequests, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Shards that are missing from partial pages.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricMissingShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.missingShards, { statistic: cloudwatch.Stats.SUM, ...props });
  }
}
