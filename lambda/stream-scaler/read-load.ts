import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import type { Load } from '../../lib/core/resharding/scaling-policy';

/** The part of `new CloudWatch({})` that reads alarms. */
export interface AlarmClient {
  describeAlarms(input: { AlarmNames: string[] }): Promise<{
    MetricAlarms?: { AlarmName?: string | undefined; StateValue?: string | undefined }[] | undefined;
  }>;
}

/**
 * Reads the states of the alarms. If several alarms are in the state ALARM, returns the highest load, because more
 * shards are safer than fewer.
 */
export async function readLoad(
  client: AlarmClient,
  { surge, scaleOut, scaleIn }: { surge: string; scaleOut: string; scaleIn: string },
): Promise<Load> {
  const { MetricAlarms } = await client.describeAlarms({ AlarmNames: [surge, scaleOut, scaleIn] });
  if (!Array.isArray(MetricAlarms)) throw new IncompleteAnswerError('DescribeAlarms', 'the states of alarms');
  const isAlarmed = (name: string) =>
    MetricAlarms.some(({ AlarmName, StateValue }) => AlarmName === name && StateValue === 'ALARM');
  if (isAlarmed(surge)) return 'surging';
  if (isAlarmed(scaleOut)) return 'high';
  return isAlarmed(scaleIn) ? 'low' : 'normal';
}
