import { Duration, type IResource, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';

/** The definition of a metric. Methods, dashboards, alarms and the guide to metrics use it. */
export interface MetricDefinition {
  /** The default statistic. */
  readonly statistic: string;
  readonly unit: Unit;
  /** The description of the metric in the guide. Absent for a metric that AWS writes, because AWS documents it. */
  readonly description?: string;
}

type Unit = 'Bytes' | 'Count' | 'Milliseconds' | 'Percent' | 'Seconds';

/** Metrics with the same namespace and dimensions, by their names in CloudWatch. */
export interface MetricFamily {
  readonly namespace: string;
  readonly dimensions: readonly string[];
  readonly metrics: Readonly<Record<string, MetricDefinition>>;
}

/** The default period of every metric. */
export const DEFAULT_PERIOD = Duration.minutes(5);

const { SUM, AVERAGE, MINIMUM, MAXIMUM } = cloudwatch.Stats;
export const sum = (unit: Unit, description?: string): MetricDefinition => ({ statistic: SUM, unit, description });
export const average = (unit: Unit, description?: string): MetricDefinition => ({
  statistic: AVERAGE,
  unit,
  description,
});
export const minimum = (unit: Unit, description?: string): MetricDefinition => ({
  statistic: MINIMUM,
  unit,
  description,
});
export const maximum = (unit: Unit, description?: string): MetricDefinition => ({
  statistic: MAXIMUM,
  unit,
  description,
});

/** The statistic of a metric. For a metric that the family does not define, the statistic is the average. */
export function statisticOf({ metrics }: MetricFamily, metricName: string): string {
  return metrics[metricName]?.statistic ?? AVERAGE;
}

/** A metric of a family, by its name. */
export function familyMetric(
  family: MetricFamily,
  metricName: string,
  dimensionsMap: Record<string, string>,
  props?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: family.namespace,
    metricName,
    dimensionsMap,
    statistic: statisticOf(family, metricName),
    period: DEFAULT_PERIOD,
    ...props,
  });
}

/**
 * The account and region in which CloudWatch stores the metrics of a resource. A stack can import a resource of
 * another account or region, and a replica is in another region than its table.
 */
export function metricEnvironment({ env }: Pick<IResource, 'env'>): cloudwatch.MetricOptions {
  const known = (value: string) => (Token.isUnresolved(value) ? undefined : value);
  return { account: known(env.account), region: known(env.region) };
}
