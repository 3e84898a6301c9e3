import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IKeyShardedTable } from '../table/key-sharded/key-sharded-table';
import {
  type AlarmDefinitions,
  hotPartition,
  REPORTING_PERIOD,
  seeMonitoring,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';

/** What is watched of a table that is sharded by its own key, of DynamoDB or of Amazon Keyspaces. */
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

/** The alarms of such a table. Each is absent if it is switched off. */
export interface TableAlarms extends WatchedAlarms {
  /** A partition of the table refuses writes. */
  readonly writeThrottles?: cloudwatch.Alarm;

  /** A partition of the table refuses reads. */
  readonly readThrottles?: cloudwatch.Alarm;
}

export function tableAlarms(
  monitoring: IConstruct,
  sharded: IKeyShardedTable,
  options: TableMonitoringOptions,
): AlarmDefinitions<TableAlarms> {
  const { table } = sharded;
  const sum = { statistic: cloudwatch.Stats.SUM, period: REPORTING_PERIOD };
  return unlessSwitchedOff(options, {
    writeThrottles: hotPartition(monitoring, 'writes', {
      most: options.maxWriteThrottles,
      throttles: sharded.metric('WriteKeyRangeThroughputThrottleEvents', sum),
      consumed: table.metricConsumedWriteCapacityUnits(sum),
      description:
        `A partition of the table ${table.tableName} refuses writes: it gets more than 1,000 write units a second. ` +
        'Contributor Insights of the table show which keys are throttled, each a value and a shard. If all shards of a value are ' +
        'among them, the value needs more shards, in the steps of planTableReshard: in one step, items would be missed.' +
        seeMonitoring('write-throttles-of-a-table'),
    }),
    readThrottles: hotPartition(monitoring, 'reads', {
      most: options.maxReadThrottles,
      throttles: sharded.metric('ReadKeyRangeThroughputThrottleEvents', sum),
      consumed: table.metricConsumedReadCapacityUnits(sum),
      description:
        `A partition of the table ${table.tableName} refuses reads: it gets more than 3,000 read units a second. ` +
        'Contributor Insights of the table show which keys are throttled. More shards do not help an item that is read too often: ' +
        'keep it in memory, by the cache of a FanOutQueryFunction, by cachedQueryClient, or by a DaxCluster.' +
        seeMonitoring('read-throttles-of-a-table'),
    }),
  });
}

/** The alarms that the options leave on. */
export function unlessSwitchedOff(
  { writeThrottleAlarm = true, readThrottleAlarm = true }: TableMonitoringOptions,
  { writeThrottles, readThrottles }: AlarmDefinitions<TableAlarms>,
): AlarmDefinitions<TableAlarms> {
  return { ...(writeThrottleAlarm && { writeThrottles }), ...(readThrottleAlarm && { readThrottles }) };
}

export function tableWidgets(sharded: IKeyShardedTable, alarms: TableAlarms): Rows {
  const period = REPORTING_PERIOD;
  const sum = { statistic: cloudwatch.Stats.SUM, period };
  return [
    [
      graph('Units consumed', [
        sharded.table.metricConsumedWriteCapacityUnits({ ...sum, label: 'write units' }),
        sharded.table.metricConsumedReadCapacityUnits({ ...sum, label: 'read units' }),
      ]),
      graph(
        'Refused by a hot partition',
        [
          sharded.metric('WriteKeyRangeThroughputThrottleEvents', { label: 'writes', period }),
          sharded.metric('ReadKeyRangeThroughputThrottleEvents', { label: 'reads', period }),
        ],
        {
          leftAnnotations: [
            ...lines(alarms.writeThrottles, 'alarm of writes'),
            ...lines(alarms.readThrottles, 'alarm of reads'),
          ],
        },
      ),
      graph('Refused for any reason', [
        sharded.metric('WriteThrottleEvents', { label: 'writes', period }),
        sharded.metric('ReadThrottleEvents', { label: 'reads', period }),
      ]),
    ],
  ];
}
