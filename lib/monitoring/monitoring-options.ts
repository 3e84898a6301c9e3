import type { Duration } from 'aws-cdk-lib';
import type { StreamAutoScaling } from '../stream/scaling/stream-auto-scaling';
import type { StreamReconciliation } from '../stream/scaling/stream-reconciliation';
import type { AdaptiveShardCountController } from '../table/adaptive/adaptive-shard-count-controller';

/** What is watched of a stream. */
export interface StreamMonitoringOptions {
  /**
   * Whether to switch on the metrics of the single shards, for a stream of this app that has none: without them the
   * dashboard cannot show a hot shard. CloudWatch charges each of the three metrics of each shard: $0.30 a month in US
   * East, which is $450 for 500 shards.
   *
   * A stream that is imported stays as it is: switch its metrics on where it is defined.
   *
   * @default - true for a stream of the stack that the monitoring is in. For any other stream false, with the warning
   *   `cdk-even-shards:ShardMonitoring.noShardLevelMetrics` unless you say so
   */
  readonly shardLevelMetrics?: boolean;

  /**
   * Whether to raise an alarm when the stream refuses records in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * How many records the stream may refuse in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

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
   * The stream's automatic scaling: adds its utilization and shards to the dashboard, and alarms for a scaling that fails
   * or has stopped, for a day without updates left, and for a high load at the most shards.
   *
   * @default - none
   */
  readonly autoScaling?: StreamAutoScaling;

  /**
   * How many updates of the shard count the day is to have left for the automatic scaling: 0 to 10.
   *
   * @default 1
   */
  readonly minUpdatesLeft?: number;

  /**
   * The stream's reconciliation: adds its skew to the dashboard, and alarms for a stream that is not even, and for a
   * reconciliation that fails or has stopped.
   *
   * @default - none
   */
  readonly reconciliation?: StreamReconciliation;

  /**
   * How many times the keys of the mean the widest shard may have: 1 or more. What the reconciliation counts as even, and
   * does not repair, goes up to 1.05.
   *
   * @default 1.05
   */
  readonly maxSkew?: number;
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

  /**
   * How many writes the partitions of the index may refuse in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

  /**
   * The controller that raises the adaptive counts of the index. Its graphs are added, and alarms for a controller that has
   * stopped and for values that need more shards than the maximum of the index.
   *
   * @default - the dashboard and the alarms leave the counts out
   */
  readonly shardCountController?: AdaptiveShardCountController;
}

/** What is watched of a table that is sharded by its own key. */
export interface TableMonitoringOptions {
  /**
   * Whether to raise an alarm when a partition of the table refuses writes in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * How many writes the partitions of the table may refuse in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

  /**
   * Whether to raise an alarm when a partition of the table refuses reads in three of five minutes.
   *
   * @default true
   */
  readonly readThrottleAlarm?: boolean;

  /**
   * How many reads the partitions of the table may refuse in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxReadThrottles?: number;
}

/** What is watched of a `DaxCluster`. */
export interface DaxMonitoringOptions {
  /**
   * How many requests the cluster may throttle in a minute: 0 or more. An alarm is raised when it throttles more in three of five
   * minutes.
   *
   * @default 0
   */
  readonly maxThrottledRequests?: number;

  /**
   * How many requests the cluster may fail to answer in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxFaults?: number;

  /**
   * How busy the CPU of the busiest node may be for a quarter of an hour, in percent: 0 or more.
   *
   * @default 80
   */
  readonly maxCpuUtilizationPercent?: number;
}

/** What is watched of an `OrderedProducerFunction`. */
export interface ProducerMonitoringOptions {
  /**
   * Whether to raise an alarm when records are given up or invocations fail.
   *
   * @default true
   */
  readonly failureAlarm?: boolean;

  /**
   * How many records and invocations may fail in a minute, together: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;
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

  /**
   * How many rejections and failed invocations a minute may have, together: 0 or more.
   *
   * @default 0
   */
  readonly maxFailures?: number;
}

/** What is watched of a dead-letter queue. */
export interface DeadLetterQueueMonitoringOptions {
  /**
   * How many messages may be in the queue: 0 or more.
   *
   * @default 0
   */
  readonly maxMessages?: number;
}
