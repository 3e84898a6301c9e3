import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import type { StreamAutoScaling } from '../stream/scaling/stream-auto-scaling';
import {
  type AlarmDefinitions,
  checkThreshold,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
  THREE_TIMES_FIVE_MINUTES,
} from './alarm-definition';
import type { StreamMonitoringOptions } from './monitoring-options';
import type { StreamAlarms } from './stream-alarms';

export function scalingAlarms(
  monitoring: IConstruct,
  { streamName }: kinesis.IStream,
  autoScaling: StreamAutoScaling,
  { minUpdatesLeft = 1 }: StreamMonitoringOptions,
): AlarmDefinitions<Pick<StreamAlarms, 'scalingStopped' | 'noUpdatesLeft' | 'highLoadAtMaximum'>> {
  checkThreshold(monitoring, 'minUpdatesLeft', minUpdatesLeft, 0);
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  return {
    scalingStopped: {
      metric: new cloudwatch.MathExpression({
        expression: 'IF(runs - errors < 1, 1, 0)',
        usingMetrics: {
          runs: autoScaling.function.metricInvocations({ period }),
          errors: autoScaling.function.metricErrors({ period }),
        },
        label: 'no run has succeeded',
        period,
      }),
      description:
        `The function that scales the stream ${streamName} has not succeeded for a quarter of an hour. Its log says why ` +
        'it fails. If it logs nothing, nothing invokes it. Until it succeeds, the stream keeps its shards. While it cannot ' +
        `even look at the stream, the alarms that it asks are blind.${seeMonitoring('scaling-has-stopped')}`,
      threshold: 0,
      evaluationPeriods,
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
    },
    noUpdatesLeft: {
      metric: autoScaling.metricShardCountUpdatesLeft({ period: REPORTING_PERIOD }),
      description:
        `The stream ${streamName} has used up its updates of the shard count: Kinesis allows ten in 24 hours. If its load ` +
        'grows, split shards by hand. See who else updates it, and whether its load changes too often for automatic ' +
        `scaling.${seeMonitoring('no-updates-left')}`,
      ...THREE_OF_FIVE_MINUTES,
      threshold: minUpdatesLeft,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    },
    highLoadAtMaximum: {
      metric: autoScaling.metricHighLoadAtMaximum({ period: REPORTING_PERIOD }),
      description:
        `The load of the stream ${streamName} is above the target, and the stream has the most shards that its automatic ` +
        'scaling may give it. Raise maxCapacity before the stream refuses records.' +
        seeMonitoring('high-load-at-the-maximum'),
      ...THREE_OF_FIVE_MINUTES,
      threshold: 0,
    },
  };
}
