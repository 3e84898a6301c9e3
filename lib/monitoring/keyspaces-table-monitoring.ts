import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IShardedKeyspacesTable } from '../keyspaces/sharded-keyspaces-table';
import { type AlarmTable, REPORTING_PERIOD, seeMonitoring, throttleAlarm } from './alarm-definition';
import { graph, lines, type Rows } from './graphs';
import { type TableAlarms, type TableMonitoringOptions, tableThresholds } from './table-monitoring';
import type { Watch } from './watch';

const period = REPORTING_PERIOD;

export const keyspacesTableWatch: Watch<IShardedKeyspacesTable, TableMonitoringOptions, TableAlarms> = {
  method: 'addKeyspacesTable',
  kind: 'a table',
  dashboardShowsOtherRegions: true,
  resource: (table) => table,
  title: (table) => `Table ${nameOf(table)}`,
  alarms: keyspacesTableAlarms,
  widgets: keyspacesTableWidgets,
};

function keyspacesTableAlarms(
  monitoring: IConstruct,
  table: IShardedKeyspacesTable,
  options: TableMonitoringOptions,
): AlarmTable<TableAlarms> {
  const { writes, reads } = tableThresholds(monitoring, options);
  return {
    writeThrottles: throttleAlarm('writes', {
      ...writes,
      throttles: writeMetric(table, 'StoragePartitionThroughputCapacityExceeded'),
      consumed: table.metric('ConsumedWriteCapacityUnits', { period }),
      label: 'writes throttled by a hot partition',
      description:
        `A partition of the table ${nameOf(table)} throttles writes: it gets more than 1,000 write units a second. Amazon Keyspaces ` +
        'does not name the partition. Count the writes that time out in your application, by value and shard. If all shards of a value ' +
        'time out, increase the shard count of the value in the steps of even-shards reshard.' +
        seeMonitoring('write-throttles-of-a-table-of-amazon-keyspaces'),
    }),
    readThrottles: throttleAlarm('reads', {
      ...reads,
      throttles: readMetric(table, 'StoragePartitionThroughputCapacityExceeded'),
      consumed: table.metric('ConsumedReadCapacityUnits', { period }),
      label: 'reads throttled by a hot partition',
      description:
        `A partition of the table ${nameOf(table)} throttles reads: it gets more than 3,000 read units a second. Amazon Keyspaces does ` +
        'not name the partition. Find callers that request large pages or frequent pages, and give their pages a limit. More shards ' +
        'do not help a row that is read too often: keep that row in the memory of your application.' +
        seeMonitoring('read-throttles-of-a-table-of-amazon-keyspaces'),
    }),
  };
}

function keyspacesTableWidgets(table: IShardedKeyspacesTable, alarms: TableAlarms): Rows {
  const throttled = (metricName: string) => [
    writeMetric(table, metricName, 'writes'),
    readMetric(table, metricName, 'reads'),
  ];
  return [
    [
      graph('Units consumed', [
        table.metric('ConsumedWriteCapacityUnits', { period, label: 'write units' }),
        table.metric('ConsumedReadCapacityUnits', { period, label: 'read units' }),
      ]),
      graph('Throttled by a hot partition', throttled('StoragePartitionThroughputCapacityExceeded'), {
        leftAnnotations: [
          ...lines(alarms.writeThrottles, 'alarm of writes'),
          ...lines(alarms.readThrottles, 'alarm of reads'),
        ],
      }),
      graph(
        'Throttled for any reason',
        [writeMetric(table, 'WriteThrottleEvents', 'writes'), readMetric(table, 'ReadThrottleEvents', 'reads')],
        {
          right: throttled('PerConnectionRequestRateExceeded').map((metric) =>
            metric.with({ label: `${metric.label} by a busy connection` }),
          ),
        },
      ),
    ],
  ];
}

function nameOf({ keyspaceName, tableName }: IShardedKeyspacesTable): string {
  return `${keyspaceName}.${tableName}`;
}

function readMetric(table: IShardedKeyspacesTable, metricName: string, label?: string): cloudwatch.Metric {
  return table.metricOfOperation(metricName, 'SELECT', { period, label });
}

/**
 * The sum of a metric over the three write operations. The metric ids contain the metric name, because the ids in one
 * graph must be unique.
 */
function writeMetric(table: IShardedKeyspacesTable, metricName: string, label?: string): cloudwatch.MathExpression {
  const id = metricName[0]!.toLowerCase() + metricName.slice(1);
  const usingMetrics = Object.fromEntries(
    ['INSERT', 'UPDATE', 'DELETE'].map((each) => [
      `${id}${each}`,
      table.metricOfOperation(metricName, each, { period }),
    ]),
  );
  return new cloudwatch.MathExpression({
    expression: Object.keys(usingMetrics).join(' + '),
    usingMetrics,
    label,
    period,
  });
}
