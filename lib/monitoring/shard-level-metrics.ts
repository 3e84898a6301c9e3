import * as kinesis from 'aws-cdk-lib/aws-kinesis';

/** What the dashboard draws of each shard. */
const SHARD_LEVEL_METRICS = [
  kinesis.ShardLevelMetrics.INCOMING_BYTES,
  kinesis.ShardLevelMetrics.INCOMING_RECORDS,
  kinesis.ShardLevelMetrics.WRITE_PROVISIONED_THROUGHPUT_EXCEEDED,
];

/** For a stream of this app that has none; what a user has chosen stays, and an imported stream is not ours to change. */
export function switchOnShardLevelMetrics(stream: kinesis.IStream): void {
  const resource = stream.node.defaultChild;
  if (!(resource instanceof kinesis.CfnStream)) return;
  resource.desiredShardLevelMetrics ??= SHARD_LEVEL_METRICS;
}
