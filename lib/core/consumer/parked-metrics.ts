import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION, METRICS_NAMESPACE } from '../foundation/function-metrics';
import type { RetrySummary } from './retry';

const { parkedKeys, deadKeys, parkedSeconds } = CONSUMER_METRICS;

/** What is parked, as a line of CloudWatch's embedded metric format, which a function writes to its log. */
export function parkedMetrics(consumer: string, { stillParked, dead, oldestMs }: RetrySummary): string {
  const metrics = [
    { Name: parkedKeys, Unit: 'Count' },
    { Name: deadKeys, Unit: 'Count' },
    { Name: parkedSeconds, Unit: 'Seconds' },
  ];
  const directive = { Namespace: METRICS_NAMESPACE, Dimensions: [[CONSUMER_NAME_DIMENSION]], Metrics: metrics };
  return JSON.stringify({
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] },
    [CONSUMER_NAME_DIMENSION]: consumer,
    [parkedKeys]: stillParked,
    [deadKeys]: dead,
    [parkedSeconds]: Math.round(oldestMs / 1_000),
  });
}
