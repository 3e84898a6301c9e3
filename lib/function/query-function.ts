import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { average, type MetricFamily, sum } from '../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, QUERY_METRICS } from '../core/contract/function-metrics';
import { BundledFunctionBase, type IBundledFunction } from './bundled-function';

/**
 * A function that queries all shards of indexes or of tables of Amazon Keyspaces, of this app or imported. Its metrics are
 * in the namespace `EvenShards`: what pages bring, and what they cost, such as `Pages`, `Requests` and `OverRead`.
 */
export interface IQueryFunction extends IBundledFunction {}

/** What every query function writes of its pages. */
export const QUERY_FUNCTION_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [QUERY_METRICS.pages]: sum('Count', 'pages answered'),
    [QUERY_METRICS.requests]: average(
      'Count',
      'requests that a page takes: as many as it has shards, and some for shards that were read to their end',
    ),
    [QUERY_METRICS.waves]: average('Count', 'rounds of requests that wait for each other, for a page: 1 is the fewest'),
    [QUERY_METRICS.itemsReturned]: sum('Count', 'items that pages hold'),
    [QUERY_METRICS.itemsRead]: sum('Count', 'items that were read for pages'),
    [QUERY_METRICS.overRead]: average(
      'Count',
      'items read for each item returned: 1 is a query that reads nothing in vain; of a page that a filter has emptied, all that it has read',
    ),
    [QUERY_METRICS.throttledRequests]: sum('Count', 'requests that the service has throttled; they are sent again'),
    [QUERY_METRICS.hedgedRequests]: sum(
      'Count',
      'requests that were sent a second time because the first answer was late',
    ),
    [QUERY_METRICS.missingShards]: sum('Count', 'shards that are missing from partial pages'),
  },
} as const satisfies MetricFamily;

/**
 * What every function has that queries all shards of something: the metrics that it writes of its pages.
 *
 * @internal
 */
export abstract class QueryFunctionBase extends BundledFunctionBase implements IQueryFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = QUERY_FUNCTION_METRICS;

  /**
   * Pages answered.
   *
   * Sum over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricPages(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.pages, props);
  }

  /**
   * Requests of a page: one for each shard, and more for shards whose first answer was not enough.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.requests, props);
  }

  /**
   * Rounds of requests of a page. A round waits for the one before; 1 is the fewest.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricWaves(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.waves, props);
  }

  /**
   * Items read for each item returned. A query that returns everything that it reads has 1.
   *
   * Average over 5 minutes by default.
   *
   * @param props its statistic, period, label and color
   */
  public metricOverRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.overRead, props);
  }
}
