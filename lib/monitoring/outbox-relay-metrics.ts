import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { OUTBOX_METRICS } from '../core/foundation/function-metrics';
import type { IOutboxRelayFunction } from '../outbox/i-outbox-relay-function';
import { functionMetric } from './function-metric';

/** The metrics that an `OutboxRelayFunction` writes of its work, twice a minute. */
export class OutboxRelayMetrics {
  /**
   * Metrics of one function.
   *
   * @param relay the function
   */
  public static fromRelay(relay: IOutboxRelayFunction): OutboxRelayMetrics {
    return new OutboxRelayMetrics(relay);
  }

  private constructor(private readonly relay: IOutboxRelayFunction) {}

  /**
   * Rows that wait to be relayed, those that were rolled back included.
   *
   * @param options statistic, period and looks
   */
  public metricWaitingRows(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.most(OUTBOX_METRICS.waitingRows, options);
  }

  /**
   * The age of the oldest row that waits, in seconds.
   *
   * @param options statistic, period and looks
   */
  public metricWaitingSeconds(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.most(OUTBOX_METRICS.waitingSeconds, options);
  }

  /**
   * Rows that wait because their key does: a row of it was rejected, or it has many more rows than others.
   *
   * @param options statistic, period and looks
   */
  public metricParkedRows(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.most(OUTBOX_METRICS.parkedRows, options);
  }

  /**
   * Rows that are in the stream.
   *
   * @param options statistic, period and looks
   */
  public metricRelayedRows(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(OUTBOX_METRICS.relayedRows, options);
  }

  /**
   * How often a row was rejected.
   *
   * @param options statistic, period and looks
   */
  public metricRejections(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(OUTBOX_METRICS.rejections, options);
  }

  /**
   * Rows that were moved to the table of the rejected rows.
   *
   * @param options statistic, period and looks
   */
  public metricGivenUpRows(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(OUTBOX_METRICS.givenUpRows, options);
  }

  private most(metricName: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.relay, metricName, cloudwatch.Stats.MAXIMUM, options);
  }

  private sum(metricName: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.relay, metricName, cloudwatch.Stats.SUM, options);
  }
}
