import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { PRODUCER_METRICS } from '../core/foundation/function-metrics';
import type { IOrderedProducerFunction } from '../stream/producer/ordered-producer-function';
import { type AlarmDefinition, REPORTING_PERIOD, seeMonitoring } from './alarm-definition';
import { functionFailures } from './function-failures';
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
  return functionFailures(monitoring, producer, maxFailures, {
    failed: producer.metric(PRODUCER_METRICS.userRecordsFailed, { period: REPORTING_PERIOD }),
    label: 'records given up and invocations failed',
    description:
      `The producer ${producer.functionName} gives records up, or fails. Its log says why, in the lines "records failed" ` +
      'and in those of failed invocations. Who waits for its answer finds the records in it. Those of a queue or of a table ' +
      `come again. Those of an event that nobody waits for are lost.${seeMonitoring('producer-failures')}`,
  });
}
