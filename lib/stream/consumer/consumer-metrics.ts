import { average, type MetricFamily, maximum } from '../../construct/metric-definition';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION, METRICS_NAMESPACE } from '../../core/contract/function-metrics';

/** What an ordered consumer writes: of its parked keys with each retry, of its batches with each one of some length. */
export const ORDERED_CONSUMER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [CONSUMER_NAME_DIMENSION],
  metrics: {
    [CONSUMER_METRICS.parkedKeys]: maximum('Count', 'keys that are set aside, dead ones included'),
    [CONSUMER_METRICS.deadKeys]: maximum('Count', 'keys that nobody tries any more until a person resumes them'),
    [CONSUMER_METRICS.parkedSeconds]: maximum(
      'Seconds',
      'how long the oldest parked key is held up by its first record',
    ),
    [CONSUMER_METRICS.busyHandlers]: average(
      'Percent',
      'how much of its `concurrency` was at work in a batch, of batches of 100 ms and more',
    ),
    [CONSUMER_METRICS.longestKey]: average(
      'Percent',
      'how much of the time of a batch its longest key took, of batches of 100 ms and more',
    ),
  },
} as const satisfies MetricFamily;
