import type { Series } from './metric-math';

/** The state of an alarm, as CloudWatch names it. */
export type AlarmStateValue = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
export type MissingDataTreatment = 'missing' | 'ignore' | 'breaching' | 'notBreaching';

export interface AlarmRule {
  readonly breaches: (value: number) => boolean;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: MissingDataTreatment;
}

/**
 * The state that an alarm is in after it has looked at a range of periods, which is longer than its evaluation periods.
 *
 * The latest values that there are count, however old within the range. What is missing is filled in only where the whole
 * range holds fewer than the evaluation periods.
 *
 * @param range the values, oldest first; NaN is a period without one
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 */
export function alarmState(range: Series, rule: AlarmRule, current: AlarmStateValue): AlarmStateValue {
  const { breaches, evaluationPeriods, datapointsToAlarm, treatMissingData } = rule;
  const values = range.filter((value) => !Number.isNaN(value)).slice(-evaluationPeriods);
  const filled = treatMissingData === 'breaching' ? evaluationPeriods - values.length : 0;
  const breaching = values.filter(breaches).length;
  if (breaching + filled >= datapointsToAlarm) return 'ALARM';
  const isClear = values.length === evaluationPeriods || breaching < values.length;
  if (isClear || treatMissingData === 'breaching' || treatMissingData === 'notBreaching') return 'OK';
  if (treatMissingData === 'ignore') return current;
  return isOldEnough(range, rule) ? 'ALARM' : 'INSUFFICIENT_DATA';
}

/**
 * "Alarms are designed to always go into ALARM state when the oldest available breaching datapoint [...] is at least as
 * old as the value of Datapoints to Alarm, and all other more recent data points are breaching or missing."
 */
function isOldEnough(range: Series, { datapointsToAlarm }: AlarmRule): boolean {
  const oldest = range.findIndex((value) => !Number.isNaN(value));
  return oldest !== -1 && range.length - oldest >= datapointsToAlarm;
}
