import type { MetricIdentity } from '../../lib/testing';

export const MINUTES = 180;

const NOTHING: readonly number[][] = Array.from({ length: MINUTES }, () => []);

/** The values of each metric, by minute. */
export class Measured {
  private readonly values = new Map<string, number[][]>();

  add({ Namespace, MetricName, Dimensions = [] }: MetricIdentity, minute: number, value: number): void {
    const dimensions = Dimensions.map(({ Name, Value }) => [Name as string, Value as string] as const);
    const key = keyOf(Namespace as string, MetricName as string, dimensions);
    const minutes = this.values.get(key) ?? Array.from({ length: MINUTES }, (): number[] => []);
    minutes[minute]!.push(value);
    this.values.set(key, minutes);
  }

  /** The statistic of each minute. NaN for a minute without values. */
  series(
    namespace: string,
    metricName: string,
    dimensions: readonly (readonly [string, string])[],
    statistic: string,
  ): number[] {
    const minutes = this.values.get(keyOf(namespace, metricName, dimensions)) ?? NOTHING;
    return minutes.map((values) => (values.length === 0 ? Number.NaN : summary(statistic, values)));
  }
}

function keyOf(namespace: string, metricName: string, dimensions: readonly (readonly [string, string])[]): string {
  return JSON.stringify([namespace, metricName, [...dimensions].map((pair) => pair.join('=')).sort()]);
}

function summary(statistic: string, values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  if (statistic === 'Sum') return sum;
  if (statistic === 'Maximum') return Math.max(...values);
  if (statistic === 'Minimum') return Math.min(...values);
  if (statistic === 'Average') return sum / values.length;
  const percentile = /^p(\d+)$/.exec(statistic);
  if (percentile === null) throw new Error(`the picture cannot draw the statistic ${statistic}`);
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil((Number(percentile[1]) / 100) * sorted.length) - 1]!;
}
