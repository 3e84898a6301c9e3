import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../lib/core/contract/function-metrics';
import { requiredEnvironment } from './required-environment';

/**
 * Metrics with these dimensions. They are written to the function's log in the embedded metric format, and CloudWatch reads
 * them there, so they need no call.
 */
export function metricsBy(dimensions: Record<string, string>): Metrics {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  // Powertools starts with a dimension `service`, which has no meaning here.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions(dimensions);
  return metrics;
}

/** Metrics with the name of the running function as a dimension, and further dimensions if there are any. */
export function functionMetrics(more: Record<string, string> = {}): Metrics {
  return metricsBy({ [FUNCTION_NAME_DIMENSION]: requiredEnvironment('AWS_LAMBDA_FUNCTION_NAME'), ...more });
}

/** Writes values without a unit of their own, in one line. */
export function publishCounts(metrics: Metrics, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) metrics.addMetric(name, MetricUnit.Count, value);
  metrics.publishStoredMetrics();
}
