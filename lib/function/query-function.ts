import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { average, type MetricFamily, sum } from '../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, QUERY_METRICS } from '../core/contract/function-metrics';
import { BundledFunctionBase, type IBundledFunction } from './bundled-function';

/**
 * A function that queries all shards of DynamoDB indexes or of Amazon Keyspaces tables. The function is defined in this
 * app or imported. Its metrics, such as `Pages`, `Requests` and `OverRead`, are in the namespace `EvenShards`. They
 * show the results and the costs of pages.
 */
export interface IQueryFunction extends IBundledFunction {}

/** The metrics of a query function. */
export const QUERY_FUNCTION_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [QUERY_METRICS.pages]: sum('Count', 'returned pages'),
    [QUERY_METRICS.requests]: average(
      'Count',
      'requests of a page: one for each shard, and more for shards with further pages',
    ),
    [QUERY_METRICS.waves]: average('Count', 'consecutive rounds of requests of a page: at least 1'),
    [QUERY_METRICS.itemsReturned]: sum('Count', 'items in returned pages'),
    [QUERY_METRICS.itemsRead]: sum('Count', 'items that the queries read'),
    [QUERY_METRICS.overRead]: average(
      'Count',
      'items read for each returned item: 1 is the best value; for an empty page, the number of read items',
    ),
    [QUERY_METRICS.throttledRequests]: sum('Count', 'throttled requests; the function sends them again'),
    [QUERY_METRICS.hedgedRequests]: sum(
      'Count',
      'requests that the function sent a second time because the first response was late',
    ),
    [QUERY_METRICS.missingShards]: sum('Count', 'shards that are missing in partial pages'),
  },
} as const satisfies MetricFamily;

/**
 * The metrics that query functions of this app and imported query functions share.
 *
 * @internal
 */
export abstract class QueryFunctionBase extends BundledFunctionBase implements IQueryFunction {
  /** @internal */
  protected readonly _metrics: MetricFamily = QUERY_FUNCTION_METRICS;

  /**
   * Returned pages.
   *
   * Sum over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricPages(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.pages, props);
  }

  /**
   * The number of requests for a page: one for each shard, and more if a shard needs several requests.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricRequests(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.requests, props);
  }

  /**
   * The number of consecutive rounds of requests for a page: at least 1. A round starts after the responses of the
   * previous round.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricWaves(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.waves, props);
  }

  /**
   * The number of items that a query reads for each returned item. 1 is the best value: the query returned every item
   * that it read.
   *
   * Average over 5 minutes by default.
   *
   * @param props the statistic, period, label and color of the metric
   */
  public metricOverRead(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.overRead, props);
  }
}
