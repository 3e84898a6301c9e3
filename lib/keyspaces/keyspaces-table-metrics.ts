import { type MetricFamily, sum } from '../construct/metric-definition';

const namespace = 'AWS/Cassandra';

/**
 * What Amazon Keyspaces writes of a table, as far as it is watched.
 * Source: the Amazon Keyspaces developer guide, "Amazon Keyspaces metrics and dimensions".
 */
export const KEYSPACES_TABLE_METRICS = {
  namespace,
  dimensions: ['Keyspace', 'TableName'],
  metrics: {
    ConsumedWriteCapacityUnits: sum('Count', 'write units that the table has consumed'),
    ConsumedReadCapacityUnits: sum('Count', 'read units that the table has consumed'),
  },
} as const satisfies MetricFamily;

/** What it writes of one operation on a table: `SELECT`, `INSERT`, `UPDATE` or `DELETE`. */
export const KEYSPACES_OPERATION_METRICS = {
  namespace,
  dimensions: ['Keyspace', 'TableName', 'Operation'],
  metrics: {
    StoragePartitionThroughputCapacityExceeded: sum(
      'Count',
      'requests that were throttled because a partition got more than the 1,000 write units or 3,000 read units a second that it takes',
    ),
    WriteThrottleEvents: sum('Count', 'writes that were throttled, for whatever reason'),
    ReadThrottleEvents: sum('Count', 'reads that were throttled, for whatever reason'),
    PerConnectionRequestRateExceeded: sum(
      'Count',
      'requests that were throttled because a connection got more than the 3,000 a second that it takes',
    ),
  },
} as const satisfies MetricFamily;
