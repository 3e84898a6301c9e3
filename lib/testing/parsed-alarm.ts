import { InvalidArgumentError } from '../core/kernel/errors';
import type { AlarmRule, MissingDataTreatment } from './alarm-state';
import { type MathExpression, parseMetricMath } from './metric-math';
import type { Statistic } from './metric-samples';

/** A metric, in the format of CloudFormation and the API. A value may be an unresolved reference. */
export interface MetricIdentity {
  readonly Namespace?: unknown;
  readonly MetricName?: unknown;
  readonly Dimensions?: readonly { readonly Name?: unknown; readonly Value?: unknown }[];
}

/** The properties of an `AWS::CloudWatch::Alarm` that determine its state, in the format of a template. */
export interface AlarmProperties extends MetricIdentity {
  readonly Statistic?: string;
  readonly Period?: number;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: MetricIdentity; readonly Period: number; readonly Stat: string };
    readonly ReturnData?: boolean;
  }[];
  readonly Threshold?: number;
  readonly ComparisonOperator: string;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm?: number;
  readonly TreatMissingData?: string;
}

interface WatchedMetric {
  readonly id: string;
  readonly key: string;
  readonly statistic: Statistic;
}

export interface ParsedAlarm {
  readonly rule: AlarmRule;
  readonly periodMs: number;
  readonly metrics: readonly WatchedMetric[];
  /** Sorted so that each expression comes after its operands. The last expression is the metric of the alarm. */
  readonly expressions: readonly { readonly id: string; readonly expression: MathExpression }[];
}

const COMPARISONS: Readonly<Record<string, (threshold: number) => (value: number) => boolean>> = {
  GreaterThanThreshold: (threshold) => (value) => value > threshold,
  GreaterThanOrEqualToThreshold: (threshold) => (value) => value >= threshold,
  LessThanThreshold: (threshold) => (value) => value < threshold,
  LessThanOrEqualToThreshold: (threshold) => (value) => value <= threshold,
};
const STATISTICS: readonly string[] = ['Sum', 'Average', 'Maximum', 'Minimum', 'SampleCount'] satisfies Statistic[];
const TREATMENTS: readonly string[] = [
  'missing',
  'ignore',
  'breaching',
  'notBreaching',
] satisfies MissingDataTreatment[];

/** @throws InvalidArgumentError for an unsupported alarm */
export function parseAlarm(properties: AlarmProperties): ParsedAlarm {
  const queries = properties.Metrics ?? [
    {
      Id: 'metric',
      MetricStat: { Metric: properties, Period: properties.Period ?? 60, Stat: properties.Statistic ?? '' },
    },
  ];
  const stats = queries.flatMap(({ Id, MetricStat }) => (MetricStat === undefined ? [] : [{ Id, ...MetricStat }]));
  const periods = new Set(stats.map(({ Period }) => Period));
  if (periods.size !== 1) throw new InvalidArgumentError('Metrics', [...periods], 'metrics with the same period');
  const returned = queries.find(({ ReturnData }) => ReturnData !== false)!.Id;
  return {
    rule: ruleOf(properties, stats),
    periodMs: [...periods][0]! * 1_000,
    metrics: stats.map(({ Id, Metric, Stat }) => ({
      id: Id,
      key: metricKey(Metric),
      statistic: oneOf('Stat', Stat, STATISTICS) as Statistic,
    })),
    expressions: inOrder(
      queries.flatMap(({ Id, Expression }) => (Expression === undefined ? [] : [{ id: Id, text: Expression }])),
      returned,
    ),
  };
}

/** A key that identifies a metric, independent of the order of its dimensions. */
export function metricKey({ Namespace, MetricName, Dimensions = [] }: MetricIdentity): string {
  const dimensions = Dimensions.map(({ Name, Value }) => JSON.stringify([Name, Value])).sort();
  return JSON.stringify([Namespace, MetricName, dimensions]);
}

function ruleOf(properties: AlarmProperties, stats: readonly { Metric: MetricIdentity }[]): AlarmRule {
  const { ComparisonOperator, Threshold, EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = properties;
  if (Threshold === undefined) throw new InvalidArgumentError('Threshold', Threshold, 'a number');
  const compare = COMPARISONS[oneOf('ComparisonOperator', ComparisonOperator, Object.keys(COMPARISONS))]!;
  const treatMissingData = oneOf('TreatMissingData', properties.TreatMissingData ?? 'missing', TREATMENTS);
  return {
    breaches: compare(Threshold),
    evaluationPeriods: EvaluationPeriods,
    datapointsToAlarm: DatapointsToAlarm,
    // "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data". Source: the CloudWatch
    // API reference, PutMetricAlarm.
    treatMissingData: stats.some(({ Metric }) => Metric.Namespace === 'AWS/DynamoDB')
      ? 'ignore'
      : (treatMissingData as MissingDataTreatment),
  };
}

/** Sorts expressions so that each expression comes after its operands. The returned expression is the last expression. */
function inOrder(expressions: readonly { id: string; text: string }[], returned: string) {
  const ordered: { id: string; expression: MathExpression }[] = [];
  const visit = ({ id, text }: { id: string; text: string }): void => {
    if (ordered.some((each) => each.id === id)) return;
    for (const other of expressions) {
      if (other.id !== id && new RegExp(`\\b${other.id}\\b`).test(text)) visit(other);
    }
    ordered.push({ id, expression: parseMetricMath(text) });
  };
  for (const each of expressions) if (each.id === returned) visit(each);
  return ordered;
}

function oneOf(field: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new InvalidArgumentError(field, value, `one of ${allowed.join(', ')}`);
  return value;
}
