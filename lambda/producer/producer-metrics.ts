import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { PRODUCER_METRICS, REASON_DIMENSION } from '../../lib/core/contract/function-metrics';
import type { ProducerStatistics } from '../../lib/core/producer/producer-statistics';
import { functionMetrics, publishCounts } from '../embedded-metrics';

type Unit = (typeof MetricUnit)[keyof typeof MetricUnit];

/**
 * Adds the metrics of an invocation. A mean is added only if its value occurred at least once.
 *
 * @param failed the number of failed records, including malformed messages, which the producer does not count
 */
export function addProducerMetrics(metrics: Metrics, statistics: ProducerStatistics, failed: number): void {
  const { Count, Bytes, Milliseconds } = MetricUnit;
  const add = (name: keyof typeof PRODUCER_METRICS, unit: Unit, value: number): void => {
    metrics.addMetric(PRODUCER_METRICS[name], unit, value);
  };
  const addMean = (name: keyof typeof PRODUCER_METRICS, unit: Unit, sum: number, count: number): void => {
    if (count > 0) add(name, unit, sum / count);
  };
  const { userRecordsPut, kinesisRecordsPut, requests } = statistics;
  add('userRecordsReceived', Count, statistics.userRecordsReceived);
  add('userRecordsPut', Count, userRecordsPut);
  add('userRecordsDataPut', Bytes, statistics.userRecordsDataPut);
  add('userRecordsFailed', Count, failed);
  add('kinesisRecordsPut', Count, kinesisRecordsPut);
  add('kinesisRecordsDataPut', Bytes, statistics.kinesisRecordsDataPut);
  add('allErrors', Count, statistics.allErrors);
  addMean('retriesPerRecord', Count, statistics.retries, userRecordsPut);
  addMean('requestTime', Milliseconds, statistics.requestTimeMs, requests);
  addMean('userRecordsPerKinesisRecord', Count, userRecordsPut, kinesisRecordsPut);
  addMean('kinesisRecordsPerPutRecordsRequest', Count, statistics.requestRecords, requests);
}

/** Writes the number of failed records for each reason. */
export function publishFailures(counts: Readonly<Record<string, number>>): void {
  for (const [reason, count] of Object.entries(counts)) {
    publishCounts(functionMetrics({ [REASON_DIMENSION]: reason }), { [PRODUCER_METRICS.failuresByReason]: count });
  }
}
