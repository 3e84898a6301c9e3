import type { Template } from 'aws-cdk-lib/assertions';
import { dashboardBody } from '../../support/readable-template';

/** One metric of an alarm, or an expression over other metrics, as the template declares it. */
interface MetricQuery {
  Id: string;
  Expression?: string;
  Label?: string;
  ReturnData?: boolean;
  MetricStat?: { Metric: { Namespace: string; MetricName: string }; Stat: string; Period: number };
}

/** A metric of a graph (its names, dimensions and rendering), or an expression (with its rendering). */
type Drawn = [...string[], { label?: string; stat?: string; expression?: string; yAxis?: string; visible?: boolean }];

/**
 * The alarms and graphs of a template in a readable form. Each alarm has a line with its metric, threshold and period.
 * Each graph has a line with its metrics and its horizontal lines, row by row.
 */
export function monitoringReport(template: Template): string {
  const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) =>
    alarmLine(id, Properties),
  );
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const rows = dashboardLines(dashboardBody(dashboard!.Properties.DashboardBody).widgets);
  return `\n${['alarms', ...alarms.sort(), '', 'dashboard', ...rows].join('\n')}\n`;
}

// biome-ignore lint/suspicious/noExplicitAny: properties of a template
function alarmLine(id: string, alarm: any): string {
  const compared = { GreaterThanThreshold: '>', GreaterThanOrEqualToThreshold: '>=', LessThanThreshold: '<' };
  const { ComparisonOperator, Threshold, EvaluationPeriods: periods, DatapointsToAlarm: raising = periods } = alarm;
  const metric = alarm.Metrics
    ? expressionText(alarm.Metrics)
    : metricText(alarm, alarm.Statistic ?? alarm.ExtendedStatistic);
  const seconds = alarm.Period ?? Math.max(...periodsIn(alarm.Metrics));
  const sign = compared[ComparisonOperator as keyof typeof compared];
  const missing = alarm.TreatMissingData === 'notBreaching' ? '' : `, no data: ${alarm.TreatMissingData}`;
  const name = id.replace(/[0-9A-F]{8}$/, '');
  return `  ${name}: ${metric} ${sign} ${Threshold} in ${raising} of ${periods} x ${seconds} s${missing}`;
}

function metricText({ Namespace, MetricName }: { Namespace: string; MetricName: string }, statistic: string): string {
  return `${Namespace} ${MetricName} ${statistic}`;
}

/** The expression of an alarm. Replaces each id in the expression by the metric or the expression that has this id. */
function expressionText(queries: MetricQuery[]): string {
  const texts = new Map(queries.map((query) => [query.Id, query]));
  const textOf = ({ Expression, MetricStat }: MetricQuery): string => {
    if (MetricStat) return `{${metricText(MetricStat.Metric, MetricStat.Stat)}}`;
    return Expression!.replaceAll(/\b[a-z]\w*\b/g, (name) => (texts.has(name) ? partOf(texts.get(name)!) : name));
  };
  const partOf = (query: MetricQuery): string => (query.Label ? `"${query.Label}"` : textOf(query));
  return textOf(queries.find(({ ReturnData }) => ReturnData !== false)!);
}

function periodsIn(queries: MetricQuery[]): number[] {
  return queries.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Period] : []));
}

/** A dash marks the first graph of a row. */
// biome-ignore lint/suspicious/noExplicitAny: widgets of CloudWatch
function dashboardLines(widgets: any[]): string[] {
  return widgets.map(({ type, x, properties }) => {
    if (type === 'text') return `  ${properties.markdown}`;
    const title = `  ${x === 0 ? '-' : ' '} ${properties.title}`;
    if (type === 'alarm') return `${title}: ${properties.alarms.length} alarms`;
    const drawn = (properties.metrics as Drawn[]).map(drawnText).filter((text) => text !== undefined);
    const lines: HorizontalLine[] = properties.annotations?.horizontal ?? [];
    const atLines = lines.map(({ value, label, yAxis }) => `${label} at ${value}${onTheRight(yAxis)}`);
    return `${title}: ${[...drawn, ...atLines].join(' | ')}`;
  });
}

interface HorizontalLine {
  value: number;
  label: string;
  yAxis?: string;
}

/** The line of a metric. Returns undefined for a hidden metric, because only an expression uses it. */
function drawnText(metric: Drawn): string | undefined {
  const { label, stat, expression, yAxis, visible } = metric.at(-1) as Exclude<Drawn[number], string>;
  if (visible === false) return undefined;
  const what = expression ?? `${metric[0]} ${metric[1]} ${stat ?? 'Average'}`;
  const shards = /SEARCH\('\{.*?\} MetricName="(\w+)" .*?', '(\w+)', \d+\)/g;
  return `${label ?? ''} = ${what.replaceAll(shards, '{$1 $2 of each shard}')}${onTheRight(yAxis)}`;
}

function onTheRight(yAxis?: string): string {
  return yAxis === 'right' ? ' (right)' : '';
}
