import { type MetricFamily, sum } from '../construct/metric-definition';

const namespace = 'AWS/Cassandra';

/**
 * The metrics that Amazon Keyspaces writes for a table. The dashboards and alarms use these metrics. Source: the Amazon
 * Keyspaces developer guide, "Amazon Keyspaces metrics and dimensions".
 */
export const KEYSPACES_TABLE_METRICS = {
  namespace,
  dimensions: ['Keyspace', 'TableName'],
  metrics: {
    ConsumedWriteCapacityUnits: sum('Count'),
    ConsumedReadCapacityUnits: sum('Count'),
  },
} as const satisfies MetricFamily;

/** The metrics that Amazon Keyspaces writes for an operation on a table: `SELECT`, `INSERT`, `UPDATE` or `DELETE`. */
export const KEYSPACES_OPERATION_METRICS = {
  namespace,
  dimensions: ['Keyspace', 'TableName', 'Operation'],
  metrics: {
    StoragePartitionThroughputCapacityExceeded: sum('Count'),
    WriteThrottleEvents: sum('Count'),
    ReadThrottleEvents: sum('Count'),
    PerConnectionRequestRateExceeded: sum('Count'),
  },
} as const satisfies MetricFamily;
