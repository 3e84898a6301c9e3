import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBundledFunction } from './i-bundled-function';

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
