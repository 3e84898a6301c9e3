import { Duration, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';
import type { IBundledFunction } from '../function/bundled-function';
import type { AlarmDefinition } from './alarm-definition';
import { lambdaMetric } from './function-monitoring';

/** A condition in metric math, and the metrics in its expression. */
interface Condition {
  readonly expression: string;
  readonly usingMetrics: Record<string, cloudwatch.IMetric>;
}

/**
 * A condition that is true in each period in which a scheduled function reports nothing. The condition has a value only
 * after the first report or the first scheduled run of the function. An alarm that ignores missing values is not raised
 * before that moment, and keeps its state after the function and its schedule are deleted. Decision 0060 has the
 * reasons.
 *
 * @param reports the number of reports of the function in a period of the alarm
 * @param failed the number of these reports that are failures
 */
function silence(scheduled: IConstruct, reports: cloudwatch.Metric, failed?: cloudwatch.Metric): Condition {
  const due = runsDue(scheduled, reports.period);
  return {
    expression: `0 * FILL(heard, REPEAT)${due ? ' + 0 * due' : ''} + heard${failed ? ' - failed' : ''} < 1`,
    usingMetrics: { heard: reports, ...(due && { due }), ...(failed && { failed }) },
  };
}

/** An alarm that is raised when no run of a function has succeeded for 15 minutes. */
export function noRunSucceeds(scheduled: IBundledFunction): Omit<AlarmDefinition, 'description'> {
  const periodSum = { statistic: cloudwatch.Stats.SUM, period: Duration.minutes(5) };
  const runs = lambdaMetric(scheduled, 'Invocations', periodSum);
  return noneFor15Minutes(silence(scheduled, runs, lambdaMetric(scheduled, 'Errors', periodSum)));
}

/**
 * An alarm that is raised when no run of a function has reported a metric for 15 minutes. It is for a function that other
 * services invoke, too.
 *
 * @param reported a metric that only scheduled runs report, with a period of 5 minutes
 */
export function noRunReports(scheduled: IConstruct, reported: cloudwatch.Metric): Omit<AlarmDefinition, 'description'> {
  return noneFor15Minutes(silence(scheduled, reported.with({ statistic: cloudwatch.Stats.SAMPLE_COUNT })));
}

function noneFor15Minutes(isSilent: Condition): Omit<AlarmDefinition, 'description'> {
  return {
    ...silenceAlarm('no run has succeeded', isSilent),
    // The evaluated time must contain the last run, so the alarm evaluates the three periods without a successful run
    // and the period before them.
    evaluationPeriods: 4,
    datapointsToAlarm: 3,
  };
}

/**
 * An alarm that is raised when a function has not run for more than a day. A function that runs once a day may be two hours
 * late.
 */
export function noRunForADay(scheduled: IBundledFunction): Omit<AlarmDefinition, 'description'> {
  const runs = lambdaMetric(scheduled, 'Invocations', { statistic: cloudwatch.Stats.SUM, period: Duration.hours(1) });
  return {
    ...silenceAlarm('no run in the hour', silence(scheduled, runs)),
    evaluationPeriods: 28,
    datapointsToAlarm: 26,
  };
}

/**
 * A reported value, or `limit` while the function reports nothing. So an alarm with the threshold `limit` is also
 * raised while the function reports nothing.
 */
export function reportedOrSilent(
  scheduled: IConstruct,
  label: string,
  reported: cloudwatch.Metric,
  limit: number,
): cloudwatch.MathExpression {
  const { period } = reported;
  const { expression, usingMetrics } = silence(scheduled, reported.with({ statistic: cloudwatch.Stats.SAMPLE_COUNT }));
  return new cloudwatch.MathExpression({
    expression: `reported + IF(${expression}, ${Tokenization.stringifyNumber(limit)}, 0)`,
    usingMetrics: { reported, ...usingMetrics },
    label,
    period,
  });
}

function silenceAlarm(label: string, { expression, usingMetrics }: Condition) {
  const { period } = usingMetrics.heard as cloudwatch.Metric;
  return {
    severity: 'ticket',
    metric: new cloudwatch.MathExpression({ expression: `IF(${expression}, 1, 0)`, usingMetrics, label, period }),
    threshold: 0,
    treatMissingData: cloudwatch.TreatMissingData.IGNORE,
  } as const;
}

/**
 * How often the schedule of a function has invoked the function, including failed invocations. Undefined for an
 * imported function, because its schedule is unknown.
 */
function runsDue({ node }: IConstruct, period: Duration): cloudwatch.Metric | undefined {
  const rule = node.children.find((child): child is events.Rule => child instanceof events.Rule && isSchedule(child));
  if (rule === undefined) return undefined;
  return new cloudwatch.Metric({
    namespace: 'AWS/Events',
    metricName: 'Invocations',
    dimensionsMap: { RuleName: rule.ruleName },
    statistic: cloudwatch.Stats.SUM,
    period,
  });
}

function isSchedule({ node }: events.Rule): boolean {
  return (node.defaultChild as events.CfnRule).scheduleExpression !== undefined;
}
