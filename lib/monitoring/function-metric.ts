import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../core/foundation/function-metrics';
import type { IBundledFunction } from '../function/i-bundled-function';

/** How often Kinesis, DynamoDB and Lambda report: once a minute. */
export const REPORTING_PERIOD = Duration.minutes(1);

/** A metric that one of this library's functions writes of its own work. */
export function functionMetric(
  { functionName }: IBundledFunction,
  metricName: string,
  statistic: string,
  options?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [FUNCTION_NAME_DIMENSION]: functionName },
    statistic,
    period: REPORTING_PERIOD,
    ...options,
  });
}

/** A metric that Lambda writes of a function, of this app or imported. */
export function lambdaMetric(
  { functionName }: IBundledFunction,
  metricName: string,
  statistic: string,
  options?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: functionName },
    statistic,
    period: REPORTING_PERIOD,
    ...options,
  });
}
