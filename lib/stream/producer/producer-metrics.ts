import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { average, type MetricFamily, sum } from '../../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, PRODUCER_METRICS } from '../../core/contract/function-metrics';

/** What an ordered producer writes of its work, in the vocabulary of the Kinesis Producer Library. */
export const ORDERED_PRODUCER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [PRODUCER_METRICS.userRecordsReceived]: sum('Count', 'records that callers and event sources have handed over'),
    [PRODUCER_METRICS.userRecordsPut]: sum('Count', 'records that are in the stream'),
    [PRODUCER_METRICS.userRecordsDataPut]: sum(
      'Bytes',
      'the records that are in the stream, before they are aggregated',
    ),
    [PRODUCER_METRICS.userRecordsFailed]: sum(
      'Count',
      'records that were given up: rejected by Kinesis, still unsent when the time was up, or unreadable in the message of a queue or a table',
    ),
    [PRODUCER_METRICS.failuresByReason]: sum(
      'Count',
      'the same, by the further dimension `Reason`: the code of the error, such as `RECORD_REJECTED`',
    ),
    [PRODUCER_METRICS.kinesisRecordsPut]: sum(
      'Count',
      'Kinesis records that are in the stream: each is one user record, or one aggregate of several',
    ),
    [PRODUCER_METRICS.kinesisRecordsDataPut]: sum('Bytes', 'the Kinesis records that are in the stream'),
    [PRODUCER_METRICS.allErrors]: sum(
      'Count',
      'entries of requests that Kinesis has not taken at once, throttled ones most of all; they are sent again',
    ),
    [PRODUCER_METRICS.retriesPerRecord]: average(
      'Count',
      'how often a record was sent again before it was in the stream',
    ),
    [PRODUCER_METRICS.requestTime]: {
      statistic: Stats.p(99),
      unit: 'Milliseconds',
      says: 'how long requests to Kinesis take',
    },
    [PRODUCER_METRICS.userRecordsPerKinesisRecord]: average(
      'Count',
      'user records for each Kinesis record: 1 without aggregation',
    ),
    [PRODUCER_METRICS.kinesisRecordsPerPutRecordsRequest]: average(
      'Count',
      'Kinesis records for each request, of the 500 that a request takes',
    ),
  },
} as const satisfies MetricFamily;
