import { type MetricFamily, maximum } from '../../construct/metric-definition';
import { CONSUMER_METRICS, CONSUMER_NAME_DIMENSION, METRICS_NAMESPACE } from '../../core/foundation/function-metrics';

/** What an ordered consumer writes of its parked keys, once a minute. */
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
  },
} as const satisfies MetricFamily;
