import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { MetricFamily } from '../../construct/metric-definition';
import { BundledFunctionBase } from '../../function/bundled-function';
import { SHARDS_OF_STREAM_METRICS, streamShardMetric } from '../stream-metrics';

/**
 * The base class of functions that scale or reconcile a stream. Their metrics are the metrics of the stream's shards.
 *
 * @internal
 */
export abstract class StreamShardsFunctionBase extends BundledFunctionBase {
  /** @internal */
  protected readonly _metrics: MetricFamily = SHARDS_OF_STREAM_METRICS;

  /** @internal */
  protected abstract readonly _stream: kinesis.IStreamRef;

  /**
   * A metric of the stream's shards, by its name. The guide to metrics lists the names.
   *
   * The default period is 5 minutes. The default statistic is in the guide. For a metric that is not in the guide, the default
   * is the average.
   *
   * @param metricName the name of the metric, such as `OpenShards`
   * @param props the statistic, period, label and color of the metric
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return streamShardMetric(this._stream, metricName, props);
  }
}
