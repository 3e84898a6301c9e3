import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IOrderedProducerFunction } from '../stream/i-ordered-producer-function';
import {
  type AlarmDefinition,
  checkThreshold,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
} from './alarm-definition';
import { lambdaMetric } from './lambda-metric';
import type { ProducerMonitoringOptions } from './monitoring-options';

/** The alarm of a producer. It is absent if it is switched off. */
export interface ProducerAlarms {
  /** The function gives records up, or it fails. */
  readonly failures?: cloudwatch.Alarm;
}

export function producerFailures(
  monitoring: IConstruct,
  producer: IOrderedProducerFunction,
  { maxFailures = 0 }: ProducerMonitoringOptions,
): AlarmDefinition {
  checkThreshold(monitoring, 'maxFailures', maxFailures, 0);
  const period = REPORTING_PERIOD;
  return {
    metric: new cloudwatch.MathExpression({
      expression: 'SUM([failed, errors])',
      usingMetrics: {
        failed: producer.metricUserRecordsFailed({ period }),
        errors: lambdaMetric(producer, 'Errors', { statistic: cloudwatch.Stats.SUM }),
      },
      label: 'records given up and invocations failed',
      period,
    }),
    description:
      `The producer ${producer.functionName} gives records up, or fails. Its log says why, in the lines "records failed" ` +
      'and in those of failed invocations. The records are in its answers, or come again from the queue or table that ' +
      `they came from.${seeMonitoring('producer-failures')}`,
    ...ONE_OF_FIVE_MINUTES,
    threshold: maxFailures,
  };
}
