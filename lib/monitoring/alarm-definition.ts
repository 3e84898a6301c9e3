import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { readGuide } from '../construct/guide-link';

/** How urgent an alarm is: `page` needs action now, `ticket` can wait for the next working day. */
export type Severity = 'page' | 'ticket';

/** The definition of an alarm, from which `ShardMonitoring` makes the CloudWatch alarm. */
export interface AlarmDefinition {
  /** Whether the options switch the alarm on. @default true */
  readonly isOn?: boolean;
  readonly severity: Severity;
  readonly metric: cloudwatch.Metric | cloudwatch.MathExpression;
  /** The fault, the steps to fix it, and a link to the guide. */
  readonly description: string;
  /** The value above which the alarm is raised, unless `comparisonOperator` is another comparison. */
  readonly threshold: number;
  /** @default - the alarm is raised above the threshold */
  readonly comparisonOperator?: cloudwatch.ComparisonOperator;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm?: number;
  /** How the alarm treats missing data. @default - missing data does not raise the alarm */
  readonly treatMissingData?: cloudwatch.TreatMissingData;
}

/**
 * The composite alarm, which each method of `ShardMonitoring` can return together with the other alarms of a resource.
 */
export interface WatchedAlarms {
  /** Raised while one of the alarms with severity `page` is raised. Absent without `compositeAlarms`. */
  readonly composite?: cloudwatch.CompositeAlarm;
}

/** The definitions of the alarms of one resource, by the property names of the returned alarms. */
export type AlarmTable<Alarms> = { readonly [name in Exclude<keyof Alarms, 'composite'>]?: AlarmDefinition };

/** Kinesis, DynamoDB and Lambda report their metrics once a minute. */
export const REPORTING_PERIOD = Duration.minutes(1);

/** Ignores throttles that last only one or two minutes, because clients retry throttled requests. */
export const THREE_OF_FIVE_MINUTES = { evaluationPeriods: 5, datapointsToAlarm: 3 };

/**
 * The settings of alarms that a single failure raises. Metrics can be three minutes late, and an alarm that evaluates
 * one minute would miss a late value.
 */
export const ONE_OF_FIVE_MINUTES = { evaluationPeriods: 5, datapointsToAlarm: 1 };

/**
 * The settings of alarms that evaluate 15 minutes. If a metric is three minutes late, the latest period still contains
 * at least two minutes of data.
 */
export const THREE_TIMES_FIVE_MINUTES = { period: Duration.minutes(5), evaluationPeriods: 3 };

/** The last sentence of a description: a link to a heading of the guide to monitoring. */
export function seeMonitoring(heading: string): string {
  return readGuide('monitoring', heading);
}

/** The throttled requests of a table or an index, and the text of their alarm. */
interface Throttles {
  readonly isOn: boolean | undefined;
  /** The number of throttled requests in a minute above which the alarm is raised. */
  readonly threshold: number;
  readonly throttles: cloudwatch.IMetric;
  readonly consumed: cloudwatch.IMetric;
  readonly label: string;
  readonly description: string;
}

/**
 * An alarm that is raised when more requests are throttled than an option allows, in three of five minutes.
 *
 * DynamoDB writes no value of a throttle metric in a minute without throttles, and an alarm on a metric of DynamoDB keeps its state while
 * values are missing. The consumed units in the expression provide a value in each minute with requests, so the alarm can end.
 */
export function throttleAlarm(
  what: 'writes' | 'reads',
  { throttles, consumed, label, ...definition }: Throttles,
): AlarmDefinition {
  return {
    severity: 'page',
    metric: new cloudwatch.MathExpression({
      expression: `throttles + 0 * ${what}`,
      usingMetrics: { throttles, [what]: consumed },
      label,
      period: REPORTING_PERIOD,
    }),
    ...definition,
    ...THREE_OF_FIVE_MINUTES,
  };
}

/**
 * The first step for each alarm on throttles of DynamoDB. The metric of the alarm counts all four causes: a hot partition, the provisioned
 * capacity, the maximum of an on-demand table, and the quota of the account.
 */
export const FIND_THE_CAUSE =
  'Find the cause first: run even-shards doctor, or read the ThrottlingReasons of the exceptions. ';
