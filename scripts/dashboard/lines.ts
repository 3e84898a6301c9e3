import { parseMetricMath } from '../../lib/testing/metric-math';
import { type Measured, MINUTES } from './measured';
import { SHARD_COUNT } from './watched-app';

/** One line of a graph. */
export interface Line {
  readonly label: string;
  readonly axis: 'left' | 'right';
  readonly values: readonly number[];
}

interface Options {
  readonly id?: string;
  readonly label?: string;
  readonly expression?: string;
  readonly stat?: string;
  readonly visible?: boolean;
  readonly yAxis?: 'left' | 'right';
}

const SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => `shard ${shard}`);
const SEARCH = /SEARCH\('\{AWS\/Kinesis,ShardId,StreamName\} MetricName="(\w+)" StreamName="(\w+)"', '(\w+)', \d+\)/g;

/** The lines that CloudWatch would draw for the metrics, searches and expressions of a graph. */
export function linesOf(metrics: readonly unknown[][], measured: Measured): Line[] {
  const series = new Map<string, readonly number[]>();
  const lines: Line[] = [];
  // The CDK lists the operands of an expression after the expression, so this loop begins with the last metric.
  for (const metric of [...metrics].reverse()) {
    const {
      id = '',
      label = '',
      expression,
      stat = 'Average',
      visible = true,
      yAxis = 'left',
    } = metric.at(-1) as Options;
    const found =
      expression === undefined ? [valuesOf(metric, stat, measured)] : evaluated(expression, series, measured);
    series.set(id, found[0]!);
    if (!visible) continue;
    const labels = found.length > 1 ? SHARDS : [label];
    lines.unshift(...found.map((values, index) => ({ label: labels[index]!, axis: yAxis, values })));
  }
  return lines;
}

function valuesOf(metric: readonly unknown[], stat: string, measured: Measured): number[] {
  const [namespace, name, ...dimensions] = metric.slice(0, -1) as string[];
  const pairs = dimensions.flatMap((dimension, index) =>
    index % 2 === 0 ? [[dimension, dimensions[index + 1]!] as const] : [],
  );
  return measured.series(namespace!, name!, pairs, stat);
}

function evaluated(
  expression: string,
  series: ReadonlyMap<string, readonly number[]>,
  measured: Measured,
): (readonly number[])[] {
  const [search] = [...expression.matchAll(SEARCH)];
  if (search === undefined) {
    const range = { series, periods: MINUTES, periodSeconds: 60, fillsEmpty: false };
    return [parseMetricMath(expression)(range) as readonly number[]];
  }
  const [text, name, stream, stat] = search as unknown as [string, string, string, string];
  const shards = SHARDS.map((shard) =>
    measured.series(
      'AWS/Kinesis',
      name,
      [
        ['ShardId', shard],
        ['StreamName', stream],
      ],
      stat,
    ),
  );
  if (expression === text) return shards;
  if (expression !== `MAX(${text}) / AVG(${text})`) throw new Error(`the picture does not know ${expression}`);
  const minutes = shards[0]!.map((_, minute) => shards.map((values) => values[minute]!));
  return [
    minutes.map((values) => (Math.max(...values) * values.length) / values.reduce((sum, value) => sum + value, 0)),
  ];
}
