import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IBundledFunction } from '../function/bundled-function';
import { type AlarmDefinition, checkThreshold, ONE_OF_FIVE_MINUTES, REPORTING_PERIOD } from './alarm-definition';
import { lambdaMetric } from './lambda-metric';

/** What a function could not do, as it reports it itself, and its invocations that failed, in which it reports nothing. */
export function functionFailures(
  monitoring: IConstruct,
  bundledFunction: IBundledFunction,
  maxFailures: number,
  { failed, label, description }: { failed: cloudwatch.IMetric; label: string; description: string },
): AlarmDefinition {
  checkThreshold(monitoring, 'maxFailures', maxFailures, 0);
  return {
    metric: new cloudwatch.MathExpression({
      expression: 'SUM([failed, errors])',
      usingMetrics: { failed, errors: lambdaMetric(bundledFunction, 'Errors', { statistic: cloudwatch.Stats.SUM }) },
      label,
      period: REPORTING_PERIOD,
    }),
    description,
    ...ONE_OF_FIVE_MINUTES,
    threshold: maxFailures,
  };
}
