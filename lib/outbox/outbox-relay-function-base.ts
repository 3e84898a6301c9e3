import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { OUTBOX_METRICS } from '../core/foundation/function-metrics';
import { BundledFunctionBase } from '../function/bundled-function-base';
import { functionMetric } from '../function/function-metric';
import type { IOutboxRelayFunction } from './i-outbox-relay-function';

/**
 * What every relay of an outbox has, of this app or imported: the metrics that it writes of its work.
 *
 * @internal
 */
export abstract class OutboxRelayFunctionBase extends BundledFunctionBase implements IOutboxRelayFunction {
  /**
   * Any metric that the function writes, twice a minute, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `WaitingRows`
   * @param props statistic, period and looks
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this, metricName, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Rows that wait to be relayed, those that were rolled back included.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWaitingRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingRows, { statistic: cloudwatch.Stats.MAXIMUM, ...props });
  }

  /**
   * The age of the oldest row that waits, in seconds.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricWaitingSeconds(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.waitingSeconds, { statistic: cloudwatch.Stats.MAXIMUM, ...props });
  }

  /**
   * Rows that wait because their key does: a row of it was rejected, or it has many more rows than others.
   *
   * Maximum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricParkedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.parkedRows, { statistic: cloudwatch.Stats.MAXIMUM, ...props });
  }

  /**
   * Rows that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRelayedRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.relayedRows, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * How often a row was rejected.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRejections(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.rejections, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Rows that were moved to the table of the rejected rows.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricGivenUpRows(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(OUTBOX_METRICS.givenUpRows, { statistic: cloudwatch.Stats.SUM, ...props });
  }
}
