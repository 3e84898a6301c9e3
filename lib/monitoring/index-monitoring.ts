import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import { SHARD_COUNT_METRICS } from '../core/contract/function-metrics';
import type { IAdaptiveShardCountController } from '../table/adaptive/adaptive-shard-count-controller';
import type { IShardedIndex } from '../table/index/sharded-index';
import {
  type AlarmTable,
  FIND_THE_CAUSE,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
  throttleAlarm,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import { noRunSucceeds } from './silence';
import type { Watch } from './watch';

/** Options of `ShardMonitoring.addIndex`: thresholds and alarms of a sharded index. */
export interface IndexMonitoringOptions {
  /**
   * Whether an alarm is raised when DynamoDB throttles writes to the index, for any cause, in three of five minutes.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * How many writes to the index may be throttled in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

  /**
   * The controller that increases the adaptive counts of the index. Adds graphs of the controller, an alarm for a controller that has
   * stopped, and an alarm for values that need more shards than the maximum of the index.
   *
   * @default - no graphs and no alarms of adaptive counts
   */
  readonly shardCountController?: IAdaptiveShardCountController;
}

/**
 * The alarms of a sharded index. An alarm is absent if it is switched off, or if it needs a controller and you pass no
 * controller.
 */
export interface IndexAlarms extends WatchedAlarms {
  /** DynamoDB throttles writes to the index, and with them the writes to its table. */
  readonly writeThrottles?: cloudwatch.Alarm;

  /** Values need more shards than the maximum of the index. */
  readonly valuesAtMaximum?: cloudwatch.Alarm;

  /** No run of the function that increases counts has succeeded for 15 minutes. */
  readonly controllerStopped?: cloudwatch.Alarm;
}

export const indexWatch: Watch<IShardedIndex, IndexMonitoringOptions, IndexAlarms> = {
  method: 'addIndex',
  kind: 'an index',
  dashboardShowsOtherRegions: true,
  resource: ({ table }) => table,
  part: ({ indexName }) => indexName,
  title: ({ indexName, table }) => `Index ${indexName} of the table ${table.tableName}`,
  alarms: indexAlarms,
  widgets: (index, alarms, { shardCountController }) => [
    ...indexWidgets(index, alarms),
    ...shardCountWidgets(shardCountController, alarms),
  ],
};

function indexAlarms(
  monitoring: IConstruct,
  index: IShardedIndex,
  options: IndexMonitoringOptions,
): AlarmTable<IndexAlarms> {
  const period = REPORTING_PERIOD;
  const { shardCountController: controller } = options;
  const indexLabel = `the index ${index.indexName} of the table ${index.table.tableName}`;
  return {
    writeThrottles: throttleAlarm('writes', {
      isOn: options.writeThrottleAlarm,
      threshold: Props.of(monitoring, options, { maxWriteThrottles: 0 }).number('maxWriteThrottles', { min: 0 }),
      throttles: index.metric('WriteThrottleEvents', { period }),
      consumed: index.metric('ConsumedWriteCapacityUnits', { period }),
      label: 'throttled writes',
      description:
        `DynamoDB throttles writes to ${indexLabel}, and with them writes to the table. ${FIND_THE_CAUSE}` +
        'More shards help only against IndexWriteKeyRangeThroughputExceeded: a partition gets more than 1,000 write units a ' +
        'second. The exceptions name the index but no key. Find the value in the writes of your application, or in the most accessed keys ' +
        'of the Contributor Insights of the index. Increase its shard count in two deployments with alsoReading: in one deployment, ' +
        'queries would miss items for a time.' +
        seeMonitoring('write-throttles-of-an-index'),
    }),
    ...(controller && {
      valuesAtMaximum: {
        severity: 'page',
        metric: controller.metric(SHARD_COUNT_METRICS.valuesAtMaximum, { period }),
        description:
          `Values of ${indexLabel} are throttled and have the maximum number of shards. Increase the maximum of its ` +
          'ShardCounts.adaptive and deploy: the next run adds shards. Invoke the controller with {"dryRun":true} to see the values.' +
          seeMonitoring('values-at-the-maximum'),
        ...THREE_OF_FIVE_MINUTES,
        threshold: 0,
      },
      controllerStopped: {
        ...noRunSucceeds(controller),
        description:
          `No run of the function that increases the shard counts of ${indexLabel} has succeeded for 15 minutes. Its log has the ` +
          'cause. If the log has no recent lines, nothing invokes the function. Until a run succeeds, values keep their shards.' +
          seeMonitoring('the-controller-of-shard-counts-has-stopped'),
      },
    }),
  };
}

function indexWidgets(index: IShardedIndex, alarms: IndexAlarms): Rows {
  const period = REPORTING_PERIOD;
  return [
    [
      graph('Units consumed', [
        index.metric('ConsumedWriteCapacityUnits', { label: 'write units', period }),
        index.metric('ConsumedReadCapacityUnits', { label: 'read units', period }),
        index.metric('OnlineIndexConsumedWriteCapacity', { label: 'write units while it is built', period }),
      ]),
      graph('Throttled by a hot partition', [
        index.metric('WriteKeyRangeThroughputThrottleEvents', { label: 'writes', period }),
        index.metric('ReadKeyRangeThroughputThrottleEvents', { label: 'reads', period }),
      ]),
      graph(
        'Throttled for any reason',
        [
          index.metric('WriteThrottleEvents', { label: 'writes', period }),
          index.metric('ReadThrottleEvents', { label: 'reads', period }),
        ],
        { leftAnnotations: lines(alarms.writeThrottles, 'alarm of writes') },
      ),
    ],
  ];
}

function shardCountWidgets(controller: IAdaptiveShardCountController | undefined, alarms: IndexAlarms): Rows {
  if (controller === undefined) return [];
  const period = REPORTING_PERIOD;
  return [
    [
      graph('Values that are throttled', [
        controller.metric(SHARD_COUNT_METRICS.throttledValues, { label: 'values', period }),
      ]),
      graph(
        'Values that need more shards than the maximum',
        [controller.metric(SHARD_COUNT_METRICS.valuesAtMaximum, { label: 'values', period })],
        { leftAnnotations: lines(alarms.valuesAtMaximum, 'alarm of values at the maximum') },
      ),
      graph(
        'Shard counts increased',
        [controller.metric(SHARD_COUNT_METRICS.increases, { label: 'increases', period })],
        {
          right: [
            controller.metric(SHARD_COUNT_METRICS.mostShards, { label: 'most shards of a throttled value', period }),
          ],
        },
      ),
    ],
  ];
}
