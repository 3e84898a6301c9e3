import { IncompleteAnswerError } from '../../lib/core/kernel/incomplete-answer-error';
import type { Load } from '../../lib/core/resharding/scaling-policy';

/** The part of `new CloudWatch({})` that is needed. */
export interface AlarmClient {
  describeAlarms(input: { AlarmNames: string[] }): Promise<{
    MetricAlarms?: { AlarmName?: string | undefined; StateValue?: string | undefined }[] | undefined;
  }>;
}

/** Asks the alarms for their state. If several are in alarm, the most shards are the safe choice. */
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
