import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBundledFunction } from '../../function/i-bundled-function';

/**
 * An ordered producer, of this app or imported by `OrderedProducerFunction.fromFunctionArn`. Its metrics are in the
 * namespace `EvenShards`, in the vocabulary of the Kinesis Producer Library.
 */
export interface IOrderedProducerFunction extends IBundledFunction {
  /**
   * Any metric that the function writes, by its name.
   *
   * Average over 5 minutes by default.
   *
   * @param metricName its name, such as `UserRecordsPut`
   * @param props statistic, period and looks
   */
  metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Records that callers and event sources have handed over.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricUserRecordsReceived(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Records that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricUserRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Bytes of the records that are in the stream, before they are packed.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricUserRecordsDataPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Records that were given up: refused by Kinesis, still unsent when the time was up, or unreadable in the message
   * of a queue or a table.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricUserRecordsFailed(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Records that were given up for one reason.
   *
   * Sum over 5 minutes by default.
   *
   * @param reason the code of the error, such as `RECORD_REJECTED`, `OUT_OF_TIME` or `INVALID_EVENT`
   * @param props statistic, period and looks
   */
  metricUserRecordsFailedByReason(reason: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Kinesis records that are in the stream: each is one user record, or one aggregate of several.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricKinesisRecordsPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Bytes of the Kinesis records that are in the stream.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricKinesisRecordsDataPut(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Entries of requests that Kinesis has not taken at once, throttled ones most of all. They are sent again.
   *
   * Sum over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricAllErrors(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * How often a record was sent again before it was in the stream.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricRetriesPerRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * How long requests to Kinesis take, in milliseconds.
   *
   * 99th percentile over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricRequestTime(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * User records for each Kinesis record: 1 without aggregation.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricUserRecordsPerKinesisRecord(props?: cloudwatch.MetricOptions): cloudwatch.Metric;

  /**
   * Kinesis records for each request, of the 500 that a request takes.
   *
   * Average over 5 minutes by default.
   *
   * @param props statistic, period and looks
   */
  metricKinesisRecordsPerPutRecordsRequest(props?: cloudwatch.MetricOptions): cloudwatch.Metric;
}
