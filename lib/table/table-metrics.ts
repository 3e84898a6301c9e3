import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { average, familyMetric, type MetricFamily, maximum, sum } from '../construct/metric-definition';
import {
  FUNCTION_NAME_DIMENSION,
  INDEX_NAME_DIMENSION,
  KEEPER_METRICS,
  METRICS_NAMESPACE,
  QUERY_METRICS,
  RESHARDING_METRICS,
  SHARD_COUNT_METRICS,
  TABLE_NAME_DIMENSION,
} from '../core/contract/function-metrics';
import { QUERY_FUNCTION_METRICS } from '../function/query-function';

/**
 * The metrics of a table that is sharded by its own key. DynamoDB writes them, and the dashboards and alarms use them.
 */
export const SHARDED_TABLE_METRICS = {
  namespace: 'AWS/DynamoDB',
  dimensions: ['TableName'],
  metrics: {
    WriteThrottleEvents: sum('Count'),
    ReadThrottleEvents: sum('Count'),
    WriteKeyRangeThroughputThrottleEvents: sum('Count'),
    ReadKeyRangeThroughputThrottleEvents: sum('Count'),
  },
} as const satisfies MetricFamily;

/** The metrics that DynamoDB writes for an index. Source: the DynamoDB developer guide, "DynamoDB metrics and dimensions". */
export const SHARDED_INDEX_METRICS = {
  namespace: 'AWS/DynamoDB',
  dimensions: ['TableName', 'GlobalSecondaryIndexName'],
  metrics: {
    ConsumedWriteCapacityUnits: sum('Count'),
    ConsumedReadCapacityUnits: sum('Count'),
    ProvisionedWriteCapacityUnits: average('Count'),
    ProvisionedReadCapacityUnits: average('Count'),
    WriteThrottleEvents: sum('Count'),
    ReadThrottleEvents: sum('Count'),
    WriteKeyRangeThroughputThrottleEvents: sum('Count'),
    ReadKeyRangeThroughputThrottleEvents: sum('Count'),
    WriteProvisionedThroughputThrottleEvents: sum('Count'),
    ReadProvisionedThroughputThrottleEvents: sum('Count'),
    WriteMaxOnDemandThroughputThrottleEvents: sum('Count'),
    ReadMaxOnDemandThroughputThrottleEvents: sum('Count'),
    WriteAccountLimitThrottleEvents: sum('Count'),
    ReadAccountLimitThrottleEvents: sum('Count'),
    OnlineIndexConsumedWriteCapacity: sum('Count'),
    OnlineIndexPercentageProgress: maximum('Percent'),
    OnlineIndexThrottleEvents: sum('Count'),
  },
} as const satisfies MetricFamily;

/**
 * The metrics of a function that queries sharded indexes and tables: the metrics of every query function, and three
 * further metrics.
 */
export const FAN_OUT_QUERY_METRICS = {
  ...QUERY_FUNCTION_METRICS,
  metrics: {
    ...QUERY_FUNCTION_METRICS.metrics,
    [QUERY_METRICS.itemsHidden]: sum(
      'Count',
      'items that a filter hid. If they are most of `ItemsRead`, make an index for the condition',
    ),
    [QUERY_METRICS.consumedReadUnits]: sum('Count', 'read units that pages consumed'),
    [QUERY_METRICS.cacheHits]: sum('Count', 'pages and counts from the `cache` of the function'),
  },
} as const satisfies MetricFamily;

/**
 * The metrics that a controller of adaptive counts writes for its index. It writes them only in minutes in which there
 * is a value to report.
 */
export const ADAPTIVE_COUNT_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [TABLE_NAME_DIMENSION, INDEX_NAME_DIMENSION],
  metrics: {
    [SHARD_COUNT_METRICS.throttledValues]: maximum('Count', 'values with throttled writes'),
    [SHARD_COUNT_METRICS.increases]: sum('Count', 'increased counts'),
    [SHARD_COUNT_METRICS.valuesAtMaximum]: maximum(
      'Count',
      'values that need more shards than the maximum of the index',
    ),
    [SHARD_COUNT_METRICS.mostShards]: maximum('Count', 'the largest count of a throttled value, after the increase'),
  },
} as const satisfies MetricFamily;

/** The metrics that an item mover writes for its index or table. */
export const ITEM_MOVER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [TABLE_NAME_DIMENSION, INDEX_NAME_DIMENSION],
  metrics: {
    [RESHARDING_METRICS.itemsScanned]: sum('Count', 'items that the mover read'),
    [RESHARDING_METRICS.strays]: sum(
      'Count',
      '[strays](../glossary.md#dynamodb-indexes) of all kinds that executions found',
    ),
    [RESHARDING_METRICS.hiddenStrays]: sum('Count', 'strays that queries cannot find'),
    [RESHARDING_METRICS.movedItems]: sum('Count', 'items that the mover gave their shard'),
    [RESHARDING_METRICS.rejectedItems]: sum(
      'Count',
      'strays that the mover could not move, because DynamoDB rejected the item or its value has no valid place',
    ),
  },
} as const satisfies MetricFamily;

/** The metrics that an index keeper writes. */
export const INDEX_KEEPER_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [FUNCTION_NAME_DIMENSION],
  metrics: {
    [KEEPER_METRICS.correctedItems]: sum('Count', 'items whose shard attributes the keeper has corrected'),
    [KEEPER_METRICS.wrongItems]: sum(
      'Count',
      'items with a wrong shard attribute that a keeper with `correct: false` only counts',
    ),
    [KEEPER_METRICS.notKeptItems]: sum(
      'Count',
      'changed items whose value or sort key cannot be part of the key of an index',
    ),
    [KEEPER_METRICS.contestedItems]: maximum(
      'Count',
      'items that are set aside because another program undoes the corrections',
    ),
    [KEEPER_METRICS.rejectedItems]: maximum(
      'Count',
      'items that are set aside because DynamoDB rejects the corrections',
    ),
    [KEEPER_METRICS.delay]: maximum('Milliseconds', 'the time from a change until its check'),
    [KEEPER_METRICS.sweepDue]: maximum('Count', '1 while the whole table must be checked and no sweep is started'),
  },
} as const satisfies MetricFamily;

/** A table, or one of its indexes. */
interface Store {
  readonly table: dynamodb.ITableV2;
  readonly indexName?: string;
}

/** A metric of a table or an index that functions of this library write. */
export function storeMetric(
  scope: IConstruct,
  family: MetricFamily,
  { table, indexName }: Store,
  metricName: string,
  props?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  const dimensions = {
    [TABLE_NAME_DIMENSION]: table.tableName,
    ...(indexName !== undefined && { [INDEX_NAME_DIMENSION]: indexName }),
  };
  return familyMetric(family, metricName, dimensions, props).attachTo(scope);
}
