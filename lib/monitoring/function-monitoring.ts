import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { PRODUCER_METRICS } from '../core/contract/function-metrics';
import type { IBundledFunction } from '../function/bundled-function';
import type { IOrderedProducerFunction } from '../stream/producer/ordered-producer-function';
import {
  type AlarmDefinition,
  type AlarmTable,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addProducer`: the threshold of its alarm. */
export interface ProducerMonitoringOptions {
  /**
   * The sum of rejected records and failed invocations that is allowed in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;
}

/** The alarm of a producer. The property is absent if `ShardMonitoringProps.alarms` is false. */
export interface ProducerAlarms extends WatchedAlarms {
  /** The function rejects records, or its invocations fail. */
  readonly failures?: cloudwatch.Alarm;
}

export const producerWatch: Watch<IOrderedProducerFunction, ProducerMonitoringOptions, ProducerAlarms> = {
  method: 'addProducer',
  kind: 'a producer',
  resource: (producer) => producer,
  title: ({ functionName }) => `Producer ${functionName}`,
  alarms: producerAlarms,
  widgets: producerWidgets,
};

function producerAlarms(
  monitoring: IConstruct,
  producer: IOrderedProducerFunction,
  options: ProducerMonitoringOptions,
): AlarmTable<ProducerAlarms> {
  const props = Props.of(monitoring, options, { maxFailures: 0 });
  return {
    failures: functionFailures(producer, {
      failed: producer.metric(PRODUCER_METRICS.userRecordsFailed, { period: REPORTING_PERIOD }),
      label: 'records given up and invocations failed',
      description:
        `The producer ${producer.functionName} rejects records, or its invocations fail. The log has the cause: search for "records ` +
        'failed" and for failed invocations. A caller that waits for the response finds the failed records there. A queue or a table stream ' +
        `delivers its records again. Records of an asynchronous invocation are lost.${seeMonitoring('producer-failures')}`,
      threshold: props.number('maxFailures', { min: 0 }),
    }),
  };
}

function producerWidgets(producer: IOrderedProducerFunction, alarms: ProducerAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph(
        'Records',
        [
          producer.metric(PRODUCER_METRICS.userRecordsReceived, { label: 'received', period }),
          producer.metric(PRODUCER_METRICS.userRecordsPut, { label: 'put', period }),
        ],
        {
          right: [producer.metric(PRODUCER_METRICS.userRecordsFailed, { label: 'given up', period })],
          rightAnnotations: lines(alarms.failures, 'alarm of records given up'),
        },
      ),
      graph(
        'Sent again',
        [producer.metric(PRODUCER_METRICS.allErrors, { label: 'entries that Kinesis did not store', period })],
        {
          right: [producer.metric(PRODUCER_METRICS.retriesPerRecord, { label: 'retries a record', period })],
        },
      ),
      graph('Time of a request, in milliseconds', [
        producer.metric(PRODUCER_METRICS.requestTime, { statistic: cloudwatch.Stats.p(50), label: 'median', period }),
        producer.metric(PRODUCER_METRICS.requestTime, { label: '99th percentile', period }),
      ]),
    ],
  ];
}

interface Failures extends Pick<AlarmDefinition, 'description' | 'threshold'> {
  readonly failed: cloudwatch.IMetric;
  readonly label: string;
}

/**
 * An alarm on the failures of a function: the failures that the function reports, and its failed invocations. An invocation that fails
 * reports nothing.
 */
export function functionFailures(
  bundledFunction: IBundledFunction,
  { failed, label, ...definition }: Failures,
): AlarmDefinition {
  return {
    severity: 'page',
    metric: new cloudwatch.MathExpression({
      expression: 'SUM([failed, errors])',
      usingMetrics: { failed, errors: lambdaMetric(bundledFunction, 'Errors', { statistic: cloudwatch.Stats.SUM }) },
      label,
      period: REPORTING_PERIOD,
    }),
    ...definition,
    ...ONE_OF_FIVE_MINUTES,
  };
}

/** A metric that Lambda writes for a function of this library. */
export function lambdaMetric(
  { functionName }: IBundledFunction,
  metricName: 'Duration' | 'Errors' | 'Invocations',
  props: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: functionName },
    period: REPORTING_PERIOD,
    ...props,
  });
}
