import { type MetricFamily, maximum, sum } from '../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, OUTBOX_METRICS } from '../core/contract/function-metrics';

/**
 * The metrics of a relay. The relay writes the metrics of the outbox twice a minute, and its own metrics at the end of
 * each invocation.
 */
export const OUTBOX_RELAY_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [OUTBOX_METRICS.waitingRows]: maximum('Count', 'rows that wait, including parked rows'),
    [OUTBOX_METRICS.waitingSeconds]: maximum('Seconds', 'age of the oldest waiting row'),
    [OUTBOX_METRICS.parkedRows]: maximum(
      'Count',
      'rows of keys that wait, because a row of the key was rejected or because the key has many more rows than others',
    ),
    [OUTBOX_METRICS.relayedRows]: sum('Count', 'rows that the stream stored'),
    [OUTBOX_METRICS.rejections]: sum('Count', 'rejections of rows'),
    [OUTBOX_METRICS.givenUpRows]: sum('Count', 'rows that the relay moved to the table `rejected`'),
    [OUTBOX_METRICS.missingRows]: maximum(
      'Count',
      'missing rows: the relay is past them, but did not record their result. A value above 0 is a fault',
    ),
    [OUTBOX_METRICS.refusals]: sum('Count', 'invocations that ended because the relay refused to run'),
  },
} as const satisfies MetricFamily;
