import { average, type MetricFamily, maximum } from '../../construct/metric-definition';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION, METRICS_NAMESPACE } from '../../core/contract/function-metrics';

/**
 * The metrics of an ordered consumer. Each replay writes the metrics of the parked keys. Each batch that takes 100 ms
 * or longer writes the metrics of the handlers.
 */
export const ORDERED_CONSUMER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [CONSUMER_NAME_DIMENSION],
  metrics: {
    [CONSUMER_METRICS.parkedKeys]: maximum('Count', 'parked keys, including dead keys'),
    [CONSUMER_METRICS.deadKeys]: maximum(
      'Count',
      'dead keys: the consumer retries them only after a person resumes them',
    ),
    [CONSUMER_METRICS.parkedSeconds]: maximum(
      'Seconds',
      'how long the first record of the oldest parked key has blocked the key',
    ),
    [CONSUMER_METRICS.busyHandlers]: average('Percent', 'used part of `concurrency`, in batches of 100 ms and more'),
    [CONSUMER_METRICS.longestKey]: average(
      'Percent',
      'part of the duration of a batch that its longest key took, in batches of 100 ms and more',
    ),
  },
} as const satisfies MetricFamily;
