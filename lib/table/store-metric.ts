import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { IConstruct } from 'constructs';
import { INDEX_NAME_DIMENSION, METRICS_NAMESPACE, TABLE_NAME_DIMENSION } from '../core/foundation/function-metrics';

/** A table, or an index of it. */
interface Store {
  readonly table: dynamodb.ITableV2;
  readonly indexName?: string;
}

/** A metric of a table or an index that a function of this library writes, whichever function it is. */
export function storeMetric(
  scope: IConstruct,
  { table, indexName }: Store,
  metricName: string,
  props?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: {
      [TABLE_NAME_DIMENSION]: table.tableName,
      ...(indexName !== undefined && { [INDEX_NAME_DIMENSION]: indexName }),
    },
    period: Duration.minutes(5),
    ...props,
  }).attachTo(scope);
}
