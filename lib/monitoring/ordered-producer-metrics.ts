import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { PRODUCER_METRICS, REASON_DIMENSION } from '../core/foundation/function-metrics';
import type { IOrderedProducerFunction } from '../stream/i-ordered-producer-function';
import { functionMetric } from './function-metric';

/** The metrics that an `OrderedProducerFunction` writes of its work, in the vocabulary of the Kinesis Producer Library. */
export class OrderedProducerMetrics {
  /**
   * Metrics of one function.
   *
   * @param producer the function
   */
  public static fromProducer(producer: IOrderedProducerFunction): OrderedProducerMetrics {
    return new OrderedProducerMetrics(producer);
  }

  private constructor(private readonly producer: IOrderedProducerFunction) {}

  /**
   * Records that callers and event sources have handed over.
   *
   * @param options statistic, period and looks
   */
  public metricUserRecordsReceived(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(PRODUCER_METRICS.userRecordsReceived, options);
  }

  /**
   * Records that are in the stream.
   *
   * @param options statistic, period and looks
   */
  public metricUserRecordsPut(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(PRODUCER_METRICS.userRecordsPut, options);
  }

  /**
   * Records that were given up: refused by Kinesis, still unsent when the time was up, or unreadable in the message of a
   * queue or a table.
   *
   * @param options statistic, period and looks
   */
  public metricUserRecordsFailed(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(PRODUCER_METRICS.userRecordsFailed, options);
  }

  /**
   * Records that were given up for one reason.
   *
   * @param reason the code of the error, such as `RECORD_REJECTED`, `OUT_OF_TIME` or `INVALID_EVENT`
   * @param options statistic, period and looks
   */
  public metricUserRecordsFailedBecause(reason: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    const metric = this.sum(PRODUCER_METRICS.failuresByReason, options);
    return metric.with({ dimensionsMap: { ...metric.dimensions, [REASON_DIMENSION]: reason } });
  }

  /**
   * Entries of requests that Kinesis has not taken at once, throttled ones most of all; they are sent again.
   *
   * @param options statistic, period and looks
   */
  public metricAllErrors(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return this.sum(PRODUCER_METRICS.allErrors, options);
  }

  /**
   * How often a record was sent again before it was in the stream.
   *
   * @param options statistic, period and looks
   */
  public metricRetriesPerRecord(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.producer, PRODUCER_METRICS.retriesPerRecord, cloudwatch.Stats.AVERAGE, options);
  }

  /**
   * How long requests to Kinesis take, in milliseconds.
   *
   * @param options statistic (the 99th percentile by default), period and looks
   */
  public metricRequestTime(options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.producer, PRODUCER_METRICS.requestTime, cloudwatch.Stats.p(99), options);
  }

  private sum(metricName: string, options?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return functionMetric(this.producer, metricName, cloudwatch.Stats.SUM, options);
  }
}
