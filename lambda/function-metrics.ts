import { Metrics } from '@aws-lambda-powertools/metrics';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../lib/core/function-metrics';
import { requiredEnvironment } from './required-environment';

/**
 * Metrics under the name of the function that runs: written to its log in the embedded metric format, from which
 * CloudWatch takes them, so that they cost an invocation no call.
 */
export function functionMetrics(): Metrics {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  // Powertools begins with a dimension `service`, which says nothing here.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ [FUNCTION_NAME_DIMENSION]: requiredEnvironment('AWS_LAMBDA_FUNCTION_NAME') });
  return metrics;
}
