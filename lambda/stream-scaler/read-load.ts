import type { Load } from '../../lib/core/resharding/scaling-policy';

/** The part of `new CloudWatch({})` that is needed. */
export interface AlarmClient {
  describeAlarms(input: { AlarmNames: string[] }): Promise<{
    MetricAlarms?: { AlarmName?: string | undefined; StateValue?: string | undefined }[] | undefined;
  }>;
}

/** Asks the alarms for their state. If both are in alarm, the load is high, because more shards are the safe choice. */
export async function readLoad(
  client: AlarmClient,
  { scaleOut, scaleIn }: { scaleOut: string; scaleIn: string },
): Promise<Load> {
  const { MetricAlarms = [] } = await client.describeAlarms({ AlarmNames: [scaleOut, scaleIn] });
  const isAlarmed = (name: string) =>
    MetricAlarms.some(({ AlarmName, StateValue }) => AlarmName === name && StateValue === 'ALARM');
  if (isAlarmed(scaleOut)) return 'high';
  return isAlarmed(scaleIn) ? 'low' : 'normal';
}
