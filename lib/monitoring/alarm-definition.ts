import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { readGuide } from '../construct/guide-link';

/** Whom an alarm is for: `page` calls somebody at once, `ticket` waits for the next working day. */
export type Severity = 'page' | 'ticket';

/** An alarm of a `ShardMonitoring`, before it is one. */
export interface AlarmDefinition {
  /** Whether the user wants the alarm. @default true */
  readonly isOn?: boolean;
  readonly severity: Severity;
  readonly metric: cloudwatch.Metric | cloudwatch.MathExpression;
  /** What is wrong, what to do, and where to read more. */
  readonly description: string;
  /** Raised above this value, unless compared otherwise. */
  readonly threshold: number;
  /** @default - the alarm is raised above the threshold */
  readonly comparisonOperator?: cloudwatch.ComparisonOperator;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm?: number;
  /** What missing data means. @default - the alarm is not raised */
  readonly treatMissingData?: cloudwatch.TreatMissingData;
}

/** What is returned of everything that is watched, besides its alarms. */
export interface WatchedAlarms {
  /** Raised while any of its alarms is that calls somebody at once. Absent without `compositeAlarms`. */
  readonly composite?: cloudwatch.CompositeAlarm;
}

/** The alarms of a thing, by the names that the alarms have where they are returned. */
export type AlarmTable<Alarms> = { readonly [name in Exclude<keyof Alarms, 'composite'>]?: AlarmDefinition };

/** How often Kinesis, DynamoDB and Lambda report: once a minute. */
export const REPORTING_PERIOD = Duration.minutes(1);

/** A minute is noise, which producers ride out by themselves. */
export const THREE_OF_FIVE_MINUTES = { evaluationPeriods: 5, datapointsToAlarm: 3 };

/** A single fault is one too many. Metrics may be three minutes late, which an alarm of one minute would never see. */
export const ONE_OF_FIVE_MINUTES = { evaluationPeriods: 5, datapointsToAlarm: 1 };

/** A quarter of an hour. Of a metric that is three minutes late, the latest period has at least two minutes. */
export const THREE_TIMES_FIVE_MINUTES = { period: Duration.minutes(5), evaluationPeriods: 3 };

/** Ends a description: the heading of the guide to monitoring that says how to follow it. */
export function seeMonitoring(heading: string): string {
  return readGuide('monitoring', heading);
}

/** The requests that a table or an index throttles, and how the metrics call them. */
interface Throttles {
  readonly isOn: boolean | undefined;
  /** How many requests may be throttled in a minute. */
  readonly threshold: number;
  readonly throttles: cloudwatch.IMetric;
  readonly consumed: cloudwatch.IMetric;
  readonly label: string;
  readonly description: string;
}

/**
 * An alarm that is raised when more requests are throttled than an option allows, in three minutes of five.
 *
 * An alarm on a metric of DynamoDB keeps its state while there is no value, and there is no value without a throttle. So the
 * expression includes the consumed units.
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
 * The first step of every runbook of throttles in DynamoDB. An alarm watches all four causes in one metric: a partition, the
 * provisioned capacity, the maximum of an on-demand table, and the quota of the account.
 */
export const FIND_THE_CAUSE =
  'Find the cause first: run even-shards doctor, or read the ThrottlingReasons of the exceptions. ';
