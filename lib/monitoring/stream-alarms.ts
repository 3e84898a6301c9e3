import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { type AlarmDefinition, REPORTING_PERIOD, seeMonitoring } from './alarm-definition';
import type { StreamMonitoringOptions } from './monitoring-options';
import { throttleAlarm } from './throttle-alarm';

/** The alarms of a stream. One that is switched off, or that the options do not ask for, is absent. */
export interface StreamAlarms {
  /** The stream refuses records. */
  readonly writeThrottles?: cloudwatch.Alarm;
  /** A consumer that polls the stream is behind, or nobody polls. */
  readonly iteratorAge?: cloudwatch.Alarm;
  /** No run of the function that scales the stream has succeeded for 15 minutes. */
  readonly scalingStopped?: cloudwatch.Alarm;
  /** The updates of the shard count that Kinesis allows in 24 hours are used up. */
  readonly noUpdatesLeft?: cloudwatch.Alarm;
  /** The load is above the target, and the stream has the most shards that it may have. */
  readonly highLoadAtMaximum?: cloudwatch.Alarm;
  /** The shards of the stream are uneven. */
  readonly skew?: cloudwatch.Alarm;
  /** A run of the reconciliation has failed. */
  readonly reconciliationFailures?: cloudwatch.Alarm;
  /** The reconciliation has not run for a day or more. */
  readonly reconciliationStopped?: cloudwatch.Alarm;
}

export function writeThrottlesOfStream(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  { maxWriteThrottles }: StreamMonitoringOptions,
): AlarmDefinition {
  return throttleAlarm(monitoring, 'maxWriteThrottles', maxWriteThrottles, {
    metric: stream.metricWriteProvisionedThroughputExceeded({ statistic: 'Sum', period: REPORTING_PERIOD }),
    description:
      `The stream ${stream.streamName} refuses records. If all its shards are busy, give it more shards. If the dashboard ` +
      'shows one shard that is hotter than the mean, give its keys explicit hash keys that spread the load, or split that ' +
      'shard. A single key that is too fast for a shard must become several keys.' +
      seeMonitoring('write-throttles-of-a-stream'),
  });
}
