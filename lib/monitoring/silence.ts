import { Duration, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';
import type { IBundledFunction } from '../function/bundled-function';
import type { AlarmDefinition } from './alarm-definition';
import { lambdaMetric } from './function-monitoring';

/** A condition of metric math, and the metrics that it is made of. */
interface Condition {
  readonly expression: string;
  readonly usingMetrics: Record<string, cloudwatch.IMetric>;
}

/**
 * Whether a function that runs on a schedule is not heard of, in each period since its first sign of life, or since the first run that
 * was due. Before, there is no value: an alarm that ignores missing values is silent until then. It also keeps its state when
 * nothing is left of the function to see. Decision 0060 says why.
 *
 * @param heard how often the function was heard of, in periods of the alarm
 * @param failed how often it was heard of in vain
 */
function silence(scheduled: IConstruct, heard: cloudwatch.Metric, failed?: cloudwatch.Metric): Condition {
  const due = runsDue(scheduled, heard.period);
  return {
    expression: `0 * FILL(heard, REPEAT)${due ? ' + 0 * due' : ''} + heard${failed ? ' - failed' : ''} < 1`,
    usingMetrics: { heard, ...(due && { due }), ...(failed && { failed }) },
  };
}

/** An alarm that is raised once no run of a function has succeeded for a quarter of an hour. */
export function noRunSucceeds(scheduled: IBundledFunction): Omit<AlarmDefinition, 'description'> {
  const ofPeriod = { statistic: cloudwatch.Stats.SUM, period: Duration.minutes(5) };
  const runs = lambdaMetric(scheduled, 'Invocations', ofPeriod);
  return {
    ...silenceAlarm('no run has succeeded', silence(scheduled, runs, lambdaMetric(scheduled, 'Errors', ofPeriod))),
    // Three, and one in which the function was last heard of.
    evaluationPeriods: 4,
    datapointsToAlarm: 3,
  };
}

/** An alarm that is raised once a function has not run for more than a day. One that runs once a day may be two hours late. */
export function noRunForADay(scheduled: IBundledFunction): Omit<AlarmDefinition, 'description'> {
  const runs = lambdaMetric(scheduled, 'Invocations', { statistic: cloudwatch.Stats.SUM, period: Duration.hours(1) });
  return {
    ...silenceAlarm('no run in the hour', silence(scheduled, runs)),
    evaluationPeriods: 28,
    datapointsToAlarm: 26,
  };
}

/** What a function reports now and then, and the limit while it is silent: for an alarm that is raised at that limit. */
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

/** How often its schedule has invoked a function, also in vain. Of an imported function the schedule is not known. */
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
