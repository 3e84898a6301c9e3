import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { MetricFamily } from '../../construct/metric-definition';
import { BundledFunctionBase } from '../../function/bundled-function';
import { SHARDS_OF_STREAM_METRICS, streamShardMetric } from '../stream-metrics';

/**
 * A function that looks after the shards of a stream, of this app or imported: its metrics are those of the stream's shards.
 *
 * @internal
 */
export abstract class StreamShardsFunctionBase extends BundledFunctionBase {
  /** @internal */
  protected readonly _metrics: MetricFamily = SHARDS_OF_STREAM_METRICS;

  /** @internal */
  protected abstract readonly _stream: kinesis.IStreamRef;

  /**
   * Any metric that the function writes of the stream's shards, by its name: the guide to metrics lists them.
   *
   * Over 5 minutes by default, with the statistic that the guide names; for a metric that the guide does not name, the
   * average.
   *
   * @param metricName its name, such as `OpenShards`
   * @param props its statistic, period, label and color
   */
  public override metric(metricName: string, props?: cloudwatch.MetricOptions): cloudwatch.Metric {
    return streamShardMetric(this._stream, metricName, props);
  }
}
