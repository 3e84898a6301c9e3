import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../core/foundation/function-metrics';

/** How often Kinesis, DynamoDB and Lambda report: once a minute. */
export const REPORTING_PERIOD = Duration.minutes(1);

/** A metric that one of this library's functions writes of its own work. */
export function functionMetric(
  producerOrQuery: lambda.IFunction,
  metricName: string,
  statistic: string,
  options?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [FUNCTION_NAME_DIMENSION]: producerOrQuery.functionName },
    statistic,
    period: REPORTING_PERIOD,
    ...options,
  });
}
