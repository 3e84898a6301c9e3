import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBundledFunction } from '../function/bundled-function';
import { REPORTING_PERIOD } from './alarm-definition';

/** A metric that Lambda writes of a function of this library, of this app or imported. */
export function lambdaMetric(
  { functionName }: IBundledFunction,
  metricName: 'Duration' | 'Errors',
  props: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: functionName },
    period: REPORTING_PERIOD,
    ...props,
  });
}
