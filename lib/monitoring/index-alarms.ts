import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import type { IShardedIndex } from '../table/i-sharded-index';
import {
  type AlarmDefinition,
  checkThreshold,
  REPORTING_PERIOD,
  seeMonitoring,
  THREE_OF_FIVE_MINUTES,
} from './alarm-definition';
import type { IndexMonitoringOptions } from './monitoring-options';

/** The alarm of a sharded index. It is absent if it is switched off. */
export interface IndexAlarms {
  /** A partition of the index refuses writes. */
  readonly writeThrottles?: cloudwatch.Alarm;
}

export function writeThrottlesOfIndex(
  monitoring: IConstruct,
  index: IShardedIndex,
  { maxWriteThrottles = 0 }: IndexMonitoringOptions,
): AlarmDefinition {
  checkThreshold(monitoring, 'maxWriteThrottles', maxWriteThrottles, 0);
  const period = REPORTING_PERIOD;
  return {
    // An alarm on a metric of DynamoDB keeps its state while there is no value, and there is none without a throttle.
    metric: new cloudwatch.MathExpression({
      expression: 'throttles + 0 * writes',
      usingMetrics: {
        throttles: index.metricWriteKeyRangeThroughputThrottleEvents({ period }),
        writes: index.metricConsumedWriteCapacityUnits({ period }),
      },
      label: 'writes refused by a hot partition',
      period,
    }),
    description:
      `A partition of the index ${index.indexName} of the table ${index.table.tableName} refuses writes, and with it the ` +
      'table does: it gets more than 1,000 write units a second. The Contributor Insights of the index name the keys. ' +
      'Raise the shard count of their value, in two deployments with alsoReading: in one, queries miss items for a while.' +
      seeMonitoring('write-throttles-of-an-index'),
    ...THREE_OF_FIVE_MINUTES,
    threshold: maxWriteThrottles,
  };
}
