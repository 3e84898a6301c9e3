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
 * Computes the new state of an alarm from a range of periods. The range is longer than the evaluation periods of the alarm.
 *
 * The alarm uses the latest values that exist in the range, even if they are not in the latest periods. Missing values are
 * filled in only if the whole range has fewer values than there are evaluation periods.
 *
 * @param range the values, oldest first; NaN is a period without a value
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
 * Whether the oldest breaching value is at least `datapointsToAlarm` periods old. If so, CloudWatch raises the alarm, because
 * all later values are breaching or missing here.
 */
function isOldEnough(range: Series, { datapointsToAlarm }: AlarmRule): boolean {
  const oldest = range.findIndex((value) => !Number.isNaN(value));
  return oldest !== -1 && range.length - oldest >= datapointsToAlarm;
}
