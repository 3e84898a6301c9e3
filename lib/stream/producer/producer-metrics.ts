import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { average, type MetricFamily, sum } from '../../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, PRODUCER_METRICS } from '../../core/contract/function-metrics';

/** The metrics of an ordered producer, with the names of the Kinesis Producer Library. */
export const ORDERED_PRODUCER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [PRODUCER_METRICS.userRecordsReceived]: sum('Count', 'records that the function received'),
    [PRODUCER_METRICS.userRecordsPut]: sum('Count', 'records that the stream stored'),
    [PRODUCER_METRICS.userRecordsDataPut]: sum('Bytes', 'data of the stored records, before aggregation'),
    [PRODUCER_METRICS.userRecordsFailed]: sum(
      'Count',
      'rejected records, records that the function had no time to send, and malformed records of a queue or a table',
    ),
    [PRODUCER_METRICS.failuresByReason]: sum(
      'Count',
      'failed records by the dimension `Reason`: an error code such as `RECORD_REJECTED`',
    ),
    [PRODUCER_METRICS.kinesisRecordsPut]: sum(
      'Count',
      'stored Kinesis records: each is one user record or one aggregate',
    ),
    [PRODUCER_METRICS.kinesisRecordsDataPut]: sum('Bytes', 'data of the stored Kinesis records'),
    [PRODUCER_METRICS.allErrors]: sum(
      'Count',
      'entries of requests that Kinesis did not store, mostly throttled entries; the function sends them again',
    ),
    [PRODUCER_METRICS.retriesPerRecord]: average('Count', 'retries of a record before the stream stored it'),
    [PRODUCER_METRICS.requestTime]: {
      statistic: Stats.p(99),
      unit: 'Milliseconds',
      description: 'duration of requests to Kinesis',
    },
    [PRODUCER_METRICS.userRecordsPerKinesisRecord]: average(
      'Count',
      'user records in each Kinesis record: 1 without aggregation',
    ),
    [PRODUCER_METRICS.kinesisRecordsPerPutRecordsRequest]: average(
      'Count',
      'Kinesis records in each request: at most 500',
    ),
  },
} as const satisfies MetricFamily;
