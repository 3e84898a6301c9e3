import { Duration, type IResource, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';

/** The definition of a metric, from which methods, dashboards, alarms and the guide to metrics are made. */
export interface MetricDefinition {
  /** The statistic over a period, unless the caller chooses another one. */
  readonly statistic: string;
  readonly unit: Unit;
  /** What it counts or measures, for the guide. A metric that AWS writes has no text, because AWS documents it. */
  readonly says?: string;
}

type Unit = 'Bytes' | 'Count' | 'Milliseconds' | 'Percent' | 'Seconds';

/** Metrics that have their namespace and their dimensions in common, by their names in CloudWatch. */
export interface MetricFamily {
  readonly namespace: string;
  readonly dimensions: readonly string[];
  readonly metrics: Readonly<Record<string, MetricDefinition>>;
}

/** The period of every metric, unless the caller chooses another one. */
export const DEFAULT_PERIOD = Duration.minutes(5);

const { SUM, AVERAGE, MINIMUM, MAXIMUM } = cloudwatch.Stats;
export const sum = (unit: Unit, says?: string): MetricDefinition => ({ statistic: SUM, unit, says });
export const average = (unit: Unit, says?: string): MetricDefinition => ({ statistic: AVERAGE, unit, says });
export const minimum = (unit: Unit, says?: string): MetricDefinition => ({ statistic: MINIMUM, unit, says });
export const maximum = (unit: Unit, says?: string): MetricDefinition => ({ statistic: MAXIMUM, unit, says });

/** The statistic of a metric by its definition; the average of one that the family does not define. */
export function statisticOf({ metrics }: MetricFamily, metricName: string): string {
  return metrics[metricName]?.statistic ?? AVERAGE;
}

/** A metric by its name. */
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
 * Where CloudWatch has the metrics of a resource: in the account and the region of the resource, which need not be those of the stack
 * that imports it, or that has the table of which it is a replica.
 */
export function whereMetricsAre({ env }: Pick<IResource, 'env'>): cloudwatch.MetricOptions {
  const known = (value: string) => (Token.isUnresolved(value) ? undefined : value);
  return { account: known(env.account), region: known(env.region) };
}
