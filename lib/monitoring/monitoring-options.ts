import type { Duration } from 'aws-cdk-lib';
import type { StreamAutoScaling } from '../stream/stream-auto-scaling';
import type { StreamReconciliation } from '../stream/stream-reconciliation';

/** What is watched of a stream. */
export interface StreamMonitoringOptions {
  /**
   * Whether to switch on the metrics of the single shards, for a stream of this app that has none: without them the
   * dashboard cannot show a hot shard. CloudWatch charges for each metric of each shard.
   *
   * @default true
   */
  readonly shardLevelMetrics?: boolean;

  /**
   * Whether to raise an alarm when the stream refuses records in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * Whether to raise an alarm when consumers that poll the stream fall behind, or when records are written and nobody
   * polls. Switch it off if all consumers use enhanced fan-out, and add these with `addConsumer`.
   *
   * @default true
   */
  readonly iteratorAgeAlarm?: boolean;

  /**
   * How far behind consumers may be for 15 minutes. Keep it well below the stream's retention period, after which records
   * are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * The stream's automatic scaling: adds its utilisation and shards to the dashboard, and alarms for a scaling that fails
   * or has stopped, for a day without updates left, and for a high load at the most shards.
   *
   * @default - none
   */
  readonly autoScaling?: StreamAutoScaling;

  /**
   * The stream's reconciliation: adds its skew to the dashboard, and alarms for a stream that is not even, and for a
   * reconciliation that fails or has stopped.
   *
   * @default - none
   */
  readonly reconciliation?: StreamReconciliation;
}

/** What is watched of one consumer of a stream. */
export interface ConsumerMonitoringOptions {
  /**
   * How far behind the consumer may be for 15 minutes. Keep it well below the stream's retention period, after which
   * records are lost.
   *
   * @default - 1 hour
   */
  readonly maxIteratorAge?: Duration;

  /**
   * Whether to raise the alarm also when records are written to the stream and the consumer reports nothing for 15
   * minutes.
   *
   * @default true
   */
  readonly silenceAlarm?: boolean;
}

/** What is watched of a sharded index. */
export interface IndexMonitoringOptions {
  /**
   * Whether to raise an alarm when a partition of the index refuses writes in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;
}

/** What is watched of an `OrderedProducerFunction`. */
export interface ProducerMonitoringOptions {
  /**
   * Whether to raise an alarm when records are given up or invocations fail.
   *
   * @default true
   */
  readonly failureAlarm?: boolean;
}

/** What is watched of an `OutboxRelayFunction`. */
export interface OutboxMonitoringOptions {
  /**
   * Whether to raise an alarm when rows wait too long, or nothing relays them.
   *
   * @default true
   */
  readonly lagAlarm?: boolean;

  /**
   * How long a row may wait, for five minutes.
   *
   * @default - 5 minutes
   */
  readonly maxLag?: Duration;

  /**
   * Whether to raise an alarm when a row is rejected or an invocation fails.
   *
   * @default true
   */
  readonly failureAlarm?: boolean;
}

/** What is watched of a dead-letter queue. */
export interface DeadLetterQueueMonitoringOptions {
  /**
   * How many messages may be in the queue.
   *
   * @default 0
   */
  readonly maxMessages?: number;
}
