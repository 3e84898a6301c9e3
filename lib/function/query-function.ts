import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { QUERY_METRICS } from '../core/foundation/function-metrics';
import { BundledFunctionBase, type IBundledFunction } from './bundled-function';
import { functionMetric } from './function-metric';

/**
 * A function that queries all shards of indexes or of tables of Amazon Keyspaces, of this app or imported. Its metrics are
 * in the namespace `EvenShards`: what pages bring, and what they cost.
 */
export interface IQueryFunction extends IBundledFunction {
  /**
   * Any metric that the function writes, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `Pages`
   * @param props statistic, period and looks
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Pages answered.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricPages(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Requests that a page takes: as many as it has shards, and some for shards that were read to their end.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Rounds of requests that wait for each other, for a page: 1 is the fewest.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricWaves(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Items that pages hold.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricItemsReturned(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Items that were read for pages.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricItemsRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Items read for each item returned: 1 is a query that reads nothing in vain.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricOverRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Requests that the service has throttled. They are sent again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricThrottledRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Requests that were sent a second time because the first answer was late.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricHedgedRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Shards that are missing from partial pages.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricMissingShards(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}

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
