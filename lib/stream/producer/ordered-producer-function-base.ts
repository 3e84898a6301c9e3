import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { PRODUCER_METRICS, REASON_DIMENSION } from '../../core/foundation/function-metrics';
import { BundledFunctionBase } from '../../function/bundled-function-base';
import { functionMetric } from '../../function/function-metric';
import type { IOrderedProducerFunction } from './i-ordered-producer-function';

/**
 * What every ordered producer has, of this app or imported: the metrics that it writes of its work.
 *
 * @internal
 */
export abstract class OrderedProducerFunctionBase extends BundledFunctionBase implements IOrderedProducerFunction {
  /**
   * Any metric that the function writes, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `UserRecordsPut`
   * @param props statistic, period and looks
   */
  public metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this, metricName, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Records that callers and event sources have handed over.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricUserRecordsReceived(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsReceived, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Records that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricUserRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsPut, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Bytes of the records that are in the stream, before they are packed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricUserRecordsDataPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsDataPut, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Records that were given up: refused by Kinesis, still unsent when the time was up, or unreadable in the message
   * of a queue or a table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricUserRecordsFailed(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsFailed, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Records that were given up for one reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param reason the code of the error, such as `RECORD_REJECTED`, `OUT_OF_TIME` or `INVALID_EVENT`
   * @param props statistic, period and looks
   */
  public metricUserRecordsFailedByReason(reason: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const metric = this.metric(PRODUCER_METRICS.failuresByReason, { statistic: cloudwatch.Stats.SUM, ...props });
    return metric.with({ dimensionsMap: { ...metric.dimensions, [REASON_DIMENSION]: reason } });
  }

  /**
   * Kinesis records that are in the stream: each is one user record, or one aggregate of several.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricKinesisRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.kinesisRecordsPut, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Bytes of the Kinesis records that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricKinesisRecordsDataPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.kinesisRecordsDataPut, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * Entries of requests that Kinesis has not taken at once, throttled ones most of all. They are sent again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricAllErrors(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.allErrors, { statistic: cloudwatch.Stats.SUM, ...props });
  }

  /**
   * How often a record was sent again before it was in the stream.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRetriesPerRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.retriesPerRecord, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * How long requests to Kinesis take, in milliseconds.
   *
   * 99th percentile over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricRequestTime(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.requestTime, { statistic: cloudwatch.Stats.p(99), ...props });
  }

  /**
   * User records for each Kinesis record: 1 without aggregation.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricUserRecordsPerKinesisRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.userRecordsPerKinesisRecord, { statistic: cloudwatch.Stats.AVERAGE, ...props });
  }

  /**
   * Kinesis records for each request, of the 500 that a request takes.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  public metricKinesisRecordsPerPutRecordsRequest(props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.metric(PRODUCER_METRICS.kinesisRecordsPerPutRecordsRequest, {
      statistic: cloudwatch.Stats.AVERAGE,
      ...props,
    });
  }
}
