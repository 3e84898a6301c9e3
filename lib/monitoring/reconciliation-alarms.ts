import { Duration, Tokenization } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { MAX_SKEW } from '../core/resharding/thresholds';
import type { StreamReconciliation } from '../stream/scaling/stream-reconciliation';
import { type AlarmDefinitions, checkThreshold, seeMonitoring } from './alarm-definition';
import type { StreamMonitoringOptions } from './monitoring-options';
import type { StreamAlarms } from './stream-alarms';

export function reconciliationAlarms(
  monitoring: IConstruct,
  { streamName }: kinesis.IStream,
  reconciliation: StreamReconciliation,
  { maxSkew = MAX_SKEW }: StreamMonitoringOptions,
): AlarmDefinitions<Pick<StreamAlarms, 'skew' | 'reconciliationFailures' | 'reconciliationStopped'>> {
  checkThreshold(monitoring, 'maxSkew', maxSkew, 1);
  const runs = reconciliation.function;
  return {
    skew: {
      metric: reconciliation.metricSkew({ statistic: 'Maximum', period: Duration.hours(1) }),
      description:
        `The shards of the stream ${streamName} are uneven: the widest has more than ${Tokenization.stringifyNumber(maxSkew)} ` +
        'times the keys of the mean. Invoke its reconciliation with {"repair": true}, or add it with repair: true. It needs ' +
        'to know the shard count for that, as that of a UniformStream does.' +
        seeMonitoring('uneven-shards'),
      threshold: maxSkew,
      evaluationPeriods: 1,
      // Between two looks, which may be a day apart, the stream is what it was.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationFailures: {
      metric: runs.metricErrors({ statistic: 'Sum', period: Duration.hours(1) }),
      description:
        `The reconciliation of the stream ${streamName} fails, so nobody knows whether its shards are even. Its log says ` +
        `why.${seeMonitoring('reconciliation-fails')}`,
      threshold: 0,
      evaluationPeriods: 1,
      // Between two runs, which may be a day apart, the last one counts.
      treatMissingData: cloudwatch.TreatMissingData.IGNORE,
    },
    reconciliationStopped: {
      metric: runs.metricInvocations({ statistic: 'Sum', period: Duration.days(1) }),
      description:
        `The reconciliation of the stream ${streamName} has not run for a day or more. See whether its schedule is ` +
        'switched off, or rarer than once a day, and whether the account has concurrency left for it.' +
        seeMonitoring('reconciliation-has-stopped'),
      threshold: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: cloudwatch.TreatMissingData.BREACHING,
    },
  };
}
