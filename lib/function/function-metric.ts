import { Duration, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { FUNCTION_NAME_DIMENSION, METRICS_NAMESPACE } from '../core/foundation/function-metrics';
import type { IBundledFunction } from './bundled-function';

/** A metric that one of this library's functions writes of its own work, in the account and region of the function. */
export function functionMetric(
  { functionName, env }: IBundledFunction,
  metricName: string,
  props: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [FUNCTION_NAME_DIMENSION]: functionName },
    period: Duration.minutes(5),
    account: ifKnown(env.account),
    region: ifKnown(env.region),
    ...props,
  });
}

/** CDK takes a metric without them for one of the account and region of the dashboard or the alarm. */
function ifKnown(text: string): string | undefined {
  return Token.isUnresolved(text) ? undefined : text;
}
