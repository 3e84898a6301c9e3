import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IKeyShardedTable } from '../table/key-sharded/key-sharded-table';
import { type AlarmDefinition, REPORTING_PERIOD, seeMonitoring } from './alarm-definition';
import type { TableMonitoringOptions } from './monitoring-options';
import { refusedByPartition } from './refused-by-partition';
import { throttleAlarm } from './throttle-alarm';

/** The alarms of a table that is sharded by its own key. Each is absent if it is switched off. */
export interface TableAlarms {
  /** A partition of the table refuses writes. */
  readonly writeThrottles?: cloudwatch.Alarm;

  /** A partition of the table refuses reads. */
  readonly readThrottles?: cloudwatch.Alarm;
}

export function writeThrottlesOfTable(
  monitoring: IConstruct,
  sharded: IKeyShardedTable,
  { maxWriteThrottles }: TableMonitoringOptions,
): AlarmDefinition {
  const period = REPORTING_PERIOD;
  return throttleAlarm(monitoring, 'maxWriteThrottles', maxWriteThrottles, {
    metric: refusedByPartition(
      'writes',
      sharded.metric('WriteKeyRangeThroughputThrottleEvents', { period }),
      sharded.table.metricConsumedWriteCapacityUnits({ statistic: cloudwatch.Stats.SUM, period }),
    ),
    description:
      `A partition of the table ${sharded.table.tableName} refuses writes: it gets more than 1,000 write units a second. ` +
      'Contributor Insights of the table show which keys are throttled, each a value and a shard. If all shards of a value are among ' +
      'them, the value needs more shards, in the steps of planTableReshard: in one step, items would be missed.' +
      seeMonitoring('write-throttles-of-a-table'),
  });
}

export function readThrottlesOfTable(
  monitoring: IConstruct,
  sharded: IKeyShardedTable,
  { maxReadThrottles }: TableMonitoringOptions,
): AlarmDefinition {
  const period = REPORTING_PERIOD;
  return throttleAlarm(monitoring, 'maxReadThrottles', maxReadThrottles, {
    metric: refusedByPartition(
      'reads',
      sharded.metric('ReadKeyRangeThroughputThrottleEvents', { period }),
      sharded.table.metricConsumedReadCapacityUnits({ statistic: cloudwatch.Stats.SUM, period }),
    ),
    description:
      `A partition of the table ${sharded.table.tableName} refuses reads: it gets more than 3,000 read units a second. ` +
      'Contributor Insights of the table show which keys are throttled. More shards do not help an item that is read too often: keep ' +
      'it in memory, by the cache of a FanOutQueryFunction, by cachedQueryClient, or by a DaxCluster.' +
      seeMonitoring('read-throttles-of-a-table'),
  });
}
