import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION, METRICS_NAMESPACE } from '../contract/function-metrics';
import type { ReplaySummary } from './replay';

/** The metrics of parked keys, as a line for the log. */
export function parkedMetrics(consumer: string, { stillParked, dead, oldestMs }: ReplaySummary): string {
  return metricLine(consumer, [
    [CONSUMER_METRICS.parkedKeys, 'Count', stillParked],
    [CONSUMER_METRICS.deadKeys, 'Count', dead],
    [CONSUMER_METRICS.parkedSeconds, 'Seconds', Math.round(oldestMs / 1_000)],
  ]);
}

/** How long a batch took, and how long the handlers of each of its keys worked. */
interface BatchTimes {
  ms: number;
  busyMs: readonly number[];
  concurrency: number;
}

/** The metrics of a batch's time, as a line for the log. */
export function batchMetrics(consumer: string, { ms, busyMs, concurrency }: BatchTimes): string {
  const percent = (part: number): number => Math.round((100 * part) / ms);
  return metricLine(consumer, [
    [CONSUMER_METRICS.busyHandlers, 'Percent', percent(busyMs.reduce((sum, each) => sum + each, 0) / concurrency)],
    [CONSUMER_METRICS.longestKey, 'Percent', percent(busyMs.reduce((most, each) => Math.max(most, each), 0))],
  ]);
}

function metricLine(consumer: string, values: [name: string, unit: string, value: number][]): string {
  const Metrics = values.map(([Name, Unit]) => ({ Name, Unit }));
  const directive = { Namespace: METRICS_NAMESPACE, Dimensions: [[CONSUMER_NAME_DIMENSION]], Metrics };
  return JSON.stringify({
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: [directive] },
    [CONSUMER_NAME_DIMENSION]: consumer,
    ...Object.fromEntries(values.map(([name, , value]) => [name, value])),
  });
}
