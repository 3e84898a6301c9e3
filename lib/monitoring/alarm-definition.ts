import { Duration, Token } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { readGuide } from '../construct/guide-link';
import { constructField } from '../construct/props-checks';
import { InvalidArgumentError } from '../core/foundation/errors';

/** An alarm of a `ShardMonitoring`, before it is one. */
export interface AlarmDefinition {
  readonly metric: cloudwatch.Metric | cloudwatch.MathExpression;
  /** What is wrong, what to do, and where to read more. */
  readonly description: string;
  /** Raised above this value, unless compared otherwise. */
  readonly threshold: number;
  /** @default - greater than the threshold */
  readonly comparisonOperator?: cloudwatch.ComparisonOperator;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm?: number;
  /** What no data means. @default - that all is well */
  readonly treatMissingData?: cloudwatch.TreatMissingData;
}

/** The definitions of alarms, by the names that the alarms have where they are returned. */
export type AlarmDefinitions<Alarms> = { readonly [name in keyof Alarms]?: AlarmDefinition };

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

/**
 * An alarm that is raised when more is refused than an option allows, in three minutes of five.
 *
 * @param most what the option says. By default, nothing may be refused
 * @throws an error with the code `INVALID_ARGUMENT` unless the option is a number of at least 0
 */
export function throttleAlarm(
  monitoring: IConstruct,
  option: 'maxWriteThrottles' | 'maxReadThrottles',
  most = 0,
  alarm: Pick<AlarmDefinition, 'metric' | 'description'>,
): AlarmDefinition {
  checkThreshold(monitoring, option, most, 0);
  return { ...alarm, ...THREE_OF_FIVE_MINUTES, threshold: most };
}

/**
 * What a hot partition refuses. An alarm on a metric of DynamoDB keeps its state while there is no value, and there is none without a
 * throttle: hence the units that are consumed.
 */
export function refusedByPartition(
  what: 'writes' | 'reads',
  throttles: cloudwatch.IMetric,
  consumed: cloudwatch.IMetric,
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: `throttles + 0 * ${what}`,
    usingMetrics: { throttles, [what]: consumed },
    label: `${what} refused by a hot partition`,
    period: REPORTING_PERIOD,
  });
}
