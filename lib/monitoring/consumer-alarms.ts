import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';
import { type AlarmDefinition, knownDuration, seeMonitoring, THREE_TIMES_FIVE_MINUTES } from './alarm-definition';
import type { ConsumerMonitoringOptions } from './monitoring-options';
import type { StreamConsumerMetrics } from './stream-consumer-metrics';

/** The alarm of a consumer. It is absent if alarms are switched off. */
export interface ConsumerAlarms {
  /** The consumer is behind, or it does not read. */
  readonly behind?: cloudwatch.Alarm;
}

/**
 * Arithmetic takes a missing value for 0 where the other one has a value: `0 * written + reports` is 0 in a period in
 * which records are written and the consumer reports nothing.
 */
export function consumerBehind(
  monitoring: IConstruct,
  stream: kinesis.IStream,
  consumer: StreamConsumerMetrics,
  { maxIteratorAge = Duration.hours(1), silenceAlarm = true }: ConsumerMonitoringOptions,
): AlarmDefinition {
  const { period, evaluationPeriods } = THREE_TIMES_FIVE_MINUTES;
  const limit = knownDuration(monitoring, 'maxIteratorAge', maxIteratorAge).toMilliseconds();
  const behind = consumer.metricMillisBehindLatest({ period });
  const silent = new cloudwatch.MathExpression({
    expression: `IF(written > 0 AND 0 * written + reports < 1, ${limit}, 0)`,
    usingMetrics: {
      written: stream.metricIncomingRecords({ statistic: cloudwatch.Stats.SUM, period }),
      reports: consumer.metricReports({ period }),
    },
    period,
  });
  return {
    metric: silenceAlarm
      ? new cloudwatch.MathExpression({
          expression: 'MAX([behind, silent])',
          usingMetrics: { behind, silent },
          label: 'milliseconds behind',
          period,
        })
      : behind,
    description:
      `A consumer of the stream ${stream.streamName} is ${maxIteratorAge.toHumanString()} behind or more, or does not read ` +
      'at all. It loses records once it is as far behind as the retention period. See whether it fails or has stopped. If ' +
      'it works and is too slow, give it more parallelism. More shards help it only with what is written from then on.' +
      seeMonitoring('a-consumer-is-behind'),
    threshold: limit,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods,
  };
}
