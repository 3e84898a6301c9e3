import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { REPORTING_PERIOD } from './alarm-definition';

/**
 * What a hot partition refuses. An alarm on a metric of DynamoDB keeps its state while there is no value, and there is none without a
 * throttle: hence the units that are consumed.
 */
export function refusedByPartition(
  what: 'writes' | 'reads',
  throttles: cloudwatch.IMetric,
  consumed: cloudwatch.IMetric,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: `throttles + 0 * ${what}`,
    usingMetrics: { throttles, [what]: consumed },
    label: `${what} refused by a hot partition`,
    period: REPORTING_PERIOD,
  });
}
