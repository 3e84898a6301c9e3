import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IBundledFunction } from '../function/i-bundled-function';
import { REPORTING_PERIOD } from './alarm-definition';
import { lambdaMetric } from './lambda-metric';

/** What a function could not do, as it reports it itself, and its invocations that failed, in which it reports nothing. */
export function functionFailures(
  bundledFunction: IBundledFunction,
  failed: cloudwatch.IMetric,
  label: string,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: 'SUM([failed, errors])',
    usingMetrics: { failed, errors: lambdaMetric(bundledFunction, 'Errors', { statistic: cloudwatch.Stats.SUM }) },
    label,
    period: REPORTING_PERIOD,
  });
}
