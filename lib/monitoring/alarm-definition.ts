import { Duration, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { readGuide } from '../construct/guide-link';
import { constructField } from '../construct/props-checks';
import { InvalidArgumentError } from '../core/kernel/errors';

/** Whom an alarm is for: `page` calls somebody at once, `ticket` waits for the next working day. */
export type Severity = 'page' | 'ticket';

/** An alarm of a `ShardMonitoring`, before it is one. */
export interface AlarmDefinition {
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

/** The definitions of alarms, by the names that the alarms have where they are returned. */
export type AlarmDefinitions<Alarms> = { readonly [name in Exclude<keyof Alarms, 'composite'>]?: AlarmDefinition };

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

/**
 * @throws an error with the code `INVALID_ARGUMENT` unless CloudWatch can compare with the threshold, and it can be
 *   exceeded
 */
export function checkThreshold(monitoring: IConstruct, option: string, threshold: number, least: number): void {
  if (Token.isUnresolved(threshold) || (Number.isFinite(threshold) && threshold >= least)) return;
  throw new InvalidArgumentError(constructField(monitoring, option), threshold, `a number of at least ${least}`);
}

/**
 * @throws an error with the code `INVALID_ARGUMENT` for a duration that only the deployment knows: a threshold is computed
 *   from it
 */
export function knownDuration(monitoring: IConstruct, option: string, duration: Duration): Duration {
  if (!duration.isUnresolved()) return duration;
  throw new InvalidArgumentError(constructField(monitoring, option), 'a token', 'a duration, known at synthesis');
}

/** The requests that a table or an index throttles, and how the options and the metrics call them. */
interface Throttles {
  readonly most: number | undefined;
  readonly throttles: cloudwatch.IMetric;
  readonly consumed: cloudwatch.IMetric;
  readonly label: string;
  readonly description: string;
}

/**
 * An alarm that is raised when more requests are throttled than an option allows, in three minutes of five. By default, the
 * option allows no throttles.
 *
 * An alarm on a metric of DynamoDB keeps its state while there is no value, and there is no value without a throttle. So the
 * expression includes the consumed units.
 *
 * @throws an error with the code `INVALID_ARGUMENT` unless the option is a number of at least 0
 */
export function throttleAlarm(
  monitoring: IConstruct,
  what: 'writes' | 'reads',
  { most = 0, throttles, consumed, label, description }: Throttles,
): AlarmDefinition {
  checkThreshold(monitoring, what === 'writes' ? 'maxWriteThrottles' : 'maxReadThrottles', most, 0);
  return {
    severity: 'page',
    metric: new cloudwatch.MathExpression({
      expression: `throttles + 0 * ${what}`,
      usingMetrics: { throttles, [what]: consumed },
      label,
      period: REPORTING_PERIOD,
    }),
    description,
    ...THREE_OF_FIVE_MINUTES,
    threshold: most,
  };
}

/**
 * The first step of every runbook of throttles in DynamoDB. An alarm watches all four causes in one metric: a partition, the
 * provisioned capacity, the maximum of an on-demand table, and the quota of the account.
 */
export const FIND_THE_CAUSE =
  'Find the cause first: run even-shards doctor, or read the ThrottlingReasons of the exceptions. ';
