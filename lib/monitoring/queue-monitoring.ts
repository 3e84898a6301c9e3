import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import {
  type AlarmTable,
  ONE_OF_FIVE_MINUTES,
  REPORTING_PERIOD,
  seeMonitoring,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addDeadLetterQueue`: the threshold of its alarm. */
export interface DeadLetterQueueMonitoringOptions {
  /**
   * How many messages may be in the queue: 0 or more.
   *
   * @default 0
   */
  readonly maxMessages?: number;
}

/** The alarm of a dead-letter queue. The property is absent if `ShardMonitoringProps.alarms` is false. */
export interface DeadLetterQueueAlarms extends WatchedAlarms {
  /** The queue has messages. */
  readonly depth?: cloudwatch.Alarm;
}

export const deadLetterQueueWatch: Watch<sqs.IQueue, DeadLetterQueueMonitoringOptions, DeadLetterQueueAlarms> = {
  method: 'addDeadLetterQueue',
  kind: 'a queue',
  resource: (queue) => queue,
  title: ({ queueName }) => `Dead-letter queue ${queueName}`,
  alarms: queueAlarms,
  widgets: queueWidgets,
};

function queueAlarms(
  monitoring: IConstruct,
  queue: sqs.IQueue,
  options: DeadLetterQueueMonitoringOptions,
): AlarmTable<DeadLetterQueueAlarms> {
  const props = Props.of(monitoring, options, { maxMessages: 0 });
  return {
    depth: {
      severity: 'ticket',
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: REPORTING_PERIOD }),
      description:
        `The dead-letter queue ${queue.queueName} has messages: each message reached its maximum of attempts. Find the ` +
        'cause in the log of the function that received the messages, fix it, and redrive the messages before their retention period ' +
        'ends. If the queue is the onFailure destination of a function or of its event source, put the records again.' +
        seeMonitoring('messages-in-a-dead-letter-queue'),
      ...ONE_OF_FIVE_MINUTES,
      threshold: props.number('maxMessages', { min: 0 }),
    },
  };
}

function queueWidgets(queue: sqs.IQueue, alarms: DeadLetterQueueAlarms): Rows {
  const metric = { statistic: cloudwatch.Stats.MAXIMUM, period: REPORTING_PERIOD };
  return [
    [
      graph('Messages', [queue.metricApproximateNumberOfMessagesVisible({ ...metric, label: 'messages' })], {
        leftAnnotations: lines(alarms.depth),
      }),
      graph('Age of the oldest, in seconds', [queue.metricApproximateAgeOfOldestMessage({ ...metric, label: 'age' })]),
    ],
  ];
}
