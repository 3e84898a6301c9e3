import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { Props } from '../construct/props';
import type { IKeyShardedTable } from '../table/key-sharded/key-sharded-table';
import {
  type AlarmTable,
  FIND_THE_CAUSE,
  REPORTING_PERIOD,
  seeMonitoring,
  throttleAlarm,
  type WatchedAlarms,
} from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import type { Watch } from './watch';

/** Options of `addTable` and `addKeyspacesTable`: thresholds and alarms of a table that is sharded by its own key. */
export interface TableMonitoringOptions {
  /**
   * Whether an alarm is raised when writes to the table are throttled in three of five minutes. For a DynamoDB table,
   * the alarm counts throttles of all causes. For a table of Amazon Keyspaces, the alarm counts only throttles of a partition.
   *
   * @default true
   */
  readonly writeThrottleAlarm?: boolean;

  /**
   * How many writes may be throttled in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxWriteThrottles?: number;

  /**
   * Whether an alarm is raised when reads of the table are throttled in three of five minutes. For a DynamoDB table,
   * the alarm counts throttles of all causes. For a table of Amazon Keyspaces, the alarm counts only throttles of a partition.
   *
   * @default true
   */
  readonly readThrottleAlarm?: boolean;

  /**
   * How many reads may be throttled in a minute: 0 or more.
   *
   * @default 0
   */
  readonly maxReadThrottles?: number;
}

/** The alarms of a table. An alarm that is switched off is absent. */
export interface TableAlarms extends WatchedAlarms {
  /** Writes to the table are throttled. */
  readonly writeThrottles?: cloudwatch.Alarm;

  /** Reads of the table are throttled. */
  readonly readThrottles?: cloudwatch.Alarm;
}

export const tableWatch: Watch<IKeyShardedTable, TableMonitoringOptions, TableAlarms> = {
  method: 'addTable',
  kind: 'a table',
  dashboardShowsOtherRegions: true,
  resource: ({ table }) => table,
  title: ({ table }) => `Table ${table.tableName}`,
  alarms: tableAlarms,
  widgets: tableWidgets,
};

/** The thresholds of a table. By default, a single throttled request in a minute is above the threshold. */
export function tableThresholds(monitoring: IConstruct, options: TableMonitoringOptions) {
  const props = Props.of(monitoring, options, { maxWriteThrottles: 0, maxReadThrottles: 0 });
  return {
    writes: { isOn: options.writeThrottleAlarm, threshold: props.number('maxWriteThrottles', { min: 0 }) },
    reads: { isOn: options.readThrottleAlarm, threshold: props.number('maxReadThrottles', { min: 0 }) },
  };
}

function tableAlarms(
  monitoring: IConstruct,
  sharded: IKeyShardedTable,
  options: TableMonitoringOptions,
): AlarmTable<TableAlarms> {
  const { table } = sharded;
  const { writes, reads } = tableThresholds(monitoring, options);
  const sum = { statistic: cloudwatch.Stats.SUM, period: REPORTING_PERIOD };
  return {
    writeThrottles: throttleAlarm('writes', {
      ...writes,
      throttles: sharded.metric('WriteThrottleEvents', sum),
      consumed: table.metricConsumedWriteCapacityUnits(sum),
      label: 'throttled writes',
      description:
        `DynamoDB throttles writes to the table ${table.tableName}. ${FIND_THE_CAUSE}` +
        'More shards help only against a hot partition, which gets more than 1,000 write units a second. Contributor Insights ' +
        'of the table show the throttled keys, each with a value and a shard. If all shards of a value are throttled, increase the shard ' +
        'count of the value in the steps of planTableReshard. In one step, queries would miss items.' +
        seeMonitoring('write-throttles-of-a-table'),
    }),
    readThrottles: throttleAlarm('reads', {
      ...reads,
      throttles: sharded.metric('ReadThrottleEvents', sum),
      consumed: table.metricConsumedReadCapacityUnits(sum),
      label: 'throttled reads',
      description:
        `DynamoDB throttles reads of the table ${table.tableName}. ${FIND_THE_CAUSE}` +
        'Contributor Insights of the table show the keys of a hot partition, which gets more than 3,000 read units a second. More ' +
        'shards do not help an item that is read too often, and they cost more if a limit of the whole table is the cause. ' +
        'Use a cache: the cache of a FanOutQueryFunction, cachedQueryClient, or a DaxCluster.' +
        seeMonitoring('read-throttles-of-a-table'),
    }),
  };
}

function tableWidgets(sharded: IKeyShardedTable, alarms: TableAlarms): Rows {
  const period = REPORTING_PERIOD;
  const sum = { statistic: cloudwatch.Stats.SUM, period };
  return [
    [
      graph('Units consumed', [
        sharded.table.metricConsumedWriteCapacityUnits({ ...sum, label: 'write units' }),
        sharded.table.metricConsumedReadCapacityUnits({ ...sum, label: 'read units' }),
      ]),
      graph('Throttled by a hot partition', [
        sharded.metric('WriteKeyRangeThroughputThrottleEvents', { label: 'writes', period }),
        sharded.metric('ReadKeyRangeThroughputThrottleEvents', { label: 'reads', period }),
      ]),
      graph(
        'Throttled for any reason',
        [
          sharded.metric('WriteThrottleEvents', { label: 'writes', period }),
          sharded.metric('ReadThrottleEvents', { label: 'reads', period }),
        ],
        {
          leftAnnotations: [
            ...lines(alarms.writeThrottles, 'alarm of writes'),
            ...lines(alarms.readThrottles, 'alarm of reads'),
          ],
        },
      ),
    ],
  ];
}
