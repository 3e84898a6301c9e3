import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { average, familyMetric, type MetricFamily, maximum, minimum } from '../construct/metric-definition';
import { METRICS_NAMESPACE, STREAM_NAME_DIMENSION, STREAM_SHARD_METRICS } from '../core/contract/function-metrics';

/**
 * The write limits of a shard per second. Source: the Kinesis developer guide, "Quotas and limits". The guide's "1 MB"
 * can mean 1,000,000 bytes or 1 MiB; this constant uses the smaller number.
 */
export const SHARD_BYTES_PER_SECOND = 1_000_000;
export const SHARD_RECORDS_PER_SECOND = 1_000;

/** The metrics of a stream's shards. The functions that scale and reconcile the stream write these metrics. */
export const SHARDS_OF_STREAM_METRICS = {
  namespace: METRICS_NAMESPACE,
  dimensions: [STREAM_NAME_DIMENSION],
  metrics: {
    [STREAM_SHARD_METRICS.openShards]: average('Count', 'open shards of the stream; during an update, the new count'),
    [STREAM_SHARD_METRICS.skew]: average(
      'Count',
      'hash keys of the widest shard divided by the mean: up to 1.05 is even',
    ),
    [STREAM_SHARD_METRICS.drift]: average('Count', 'splits, merges and updates that the stream needs: 0 without drift'),
    [STREAM_SHARD_METRICS.updatesLeft]: minimum('Count', 'remaining updates of the shard count, of ten in 24 hours'),
    [STREAM_SHARD_METRICS.highLoadAtMaximum]: maximum(
      'Count',
      '1 while the load is high and the stream has its maximum of shards, otherwise 0',
    ),
  },
} as const satisfies MetricFamily;

/** A metric from `SHARDS_OF_STREAM_METRICS`, by its name. */
export function streamShardMetric(
  stream: kinesis.IStreamRef,
  metricName: string,
  props?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  const dimensions = { [STREAM_NAME_DIMENSION]: stream.streamRef.streamName };
  return familyMetric(SHARDS_OF_STREAM_METRICS, metricName, dimensions, props).attachTo(stream);
}
