import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../lib/core/contract/function-metrics';
import { requiredEnvironment } from './required-environment';

/**
 * Metrics with these dimensions. The function writes them to its log in the embedded metric format. CloudWatch reads
 * them from the log, so the function makes no request.
 */
export function metricsBy(dimensions: Record<string, string>): Metrics {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  // Powertools adds a dimension `service`, which this library does not use.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions(dimensions);
  return metrics;
}

/** Metrics with the name of the running function as a dimension, and with additional dimensions. */
export function functionMetrics(more: Record<string, string> = {}): Metrics {
  return metricsBy({ [FUNCTION_NAME_DIMENSION]: requiredEnvironment('AWS_LAMBDA_FUNCTION_NAME'), ...more });
}

/** Writes values with the unit `Count`, in one line of the log. */
export function publishCounts(metrics: Metrics, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) metrics.addMetric(name, MetricUnit.Count, value);
  metrics.publishStoredMetrics();
}
