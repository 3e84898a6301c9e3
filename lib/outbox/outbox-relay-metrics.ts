import { type MetricFamily, maximum, sum } from '../construct/metric-definition';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE, OUTBOX_METRICS } from '../core/contract/function-metrics';

/** What a relay writes of its outbox twice a minute, and of itself at the end of each invocation. */
export const OUTBOX_RELAY_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [OUTBOX_METRICS.waitingRows]: maximum('Count', 'rows that wait to be relayed, parked ones included'),
    [OUTBOX_METRICS.waitingSeconds]: maximum('Seconds', 'the age of the oldest row that waits'),
    [OUTBOX_METRICS.parkedRows]: maximum(
      'Count',
      'rows that wait because their key does: a row of it was rejected, or it has many more rows than others',
    ),
    [OUTBOX_METRICS.relayedRows]: sum('Count', 'rows that are in the stream'),
    [OUTBOX_METRICS.rejections]: sum('Count', 'how often a row was rejected'),
    [OUTBOX_METRICS.givenUpRows]: sum('Count', 'rows that were moved to the table of the rejected rows'),
    [OUTBOX_METRICS.missingRows]: maximum(
      'Count',
      'rows that were passed, though nothing says that the stream has them: anything but 0 is a fault',
    ),
    [OUTBOX_METRICS.refusals]: sum('Count', 'invocations that ended because the relay refused to run'),
  },
} as const satisfies MetricFamily;
