import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import { METRICS_NAMESPACE, STREAM_NAME_DIMENSION } from '../core/foundation/function-metrics';

/** A metric of a stream's shards that one of this library's functions writes. */
export function streamShardMetric(
  stream: kinesis.IStreamRef,
  metricName: string,
  options?: cloudwatch.MetricOptions,
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [STREAM_NAME_DIMENSION]: stream.streamRef.streamName },
    statistic: cloudwatch.Stats.AVERAGE,
    period: Duration.minutes(5),
    ...options,
  }).attachTo(stream);
}
