import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { QUERY_METRICS } from '../core/foundation/function-metrics';
import type { IFanOutQueryFunction } from '../table/i-fan-out-query-function';
import { functionMetric } from './function-metric';

/** The metrics that a `FanOutQueryFunction` writes of its pages: what they bring, and what they cost. */
export class FanOutQueryMetrics {
  /**
   * Metrics of one function.
   *
   * @param query the function
   */
  public static fromQuery(query: IFanOutQueryFunction): FanOutQueryMetrics {
    return new FanOutQueryMetrics(query);
  }

  private constructor(private readonly query: IFanOutQueryFunction) {}

  /**
   * Pages answered.
   *
   * @param options statistic, period and looks
   */
  public metricPages(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.pages, cloudwatch.Stats.SUM, options);
  }

  /**
   * Requests to DynamoDB that a page takes: as many as it has shards, and some for shards that were read to their end.
   *
   * @param options statistic, period and looks
   */
  public metricRequestsPerPage(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.requests, cloudwatch.Stats.AVERAGE, options);
  }

  /**
   * Rounds of requests that wait for each other, a page: 1 is the fewest.
   *
   * @param options statistic, period and looks
   */
  public metricWavesPerPage(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.waves, cloudwatch.Stats.AVERAGE, options);
  }

  /**
   * Items read per item returned: 1 is a query that reads nothing in vain.
   *
   * @param options statistic, period and looks
   */
  public metricOverRead(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.overRead, cloudwatch.Stats.AVERAGE, options);
  }

  /**
   * Read units that pages have consumed.
   *
   * @param options statistic, period and looks
   */
  public metricConsumedReadUnits(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(QUERY_METRICS.consumedReadUnits, cloudwatch.Stats.SUM, options);
  }

  private metric(metricName: string, statistic: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.query, metricName, statistic, options);
  }
}
