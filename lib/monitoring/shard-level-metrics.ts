import { Annotations, Stack } from 'aws-cdk-lib';
import * as kinesis from 'aws-cdk-lib/aws-kinesis';
import type { IConstruct } from 'constructs';

/** What the dashboard draws of each shard. */
const SHARD_LEVEL_METRICS = [
  kinesis.ShardLevelMetrics.INCOMING_BYTES,
  kinesis.ShardLevelMetrics.INCOMING_RECORDS,
  kinesis.ShardLevelMetrics.WRITE_PROVISIONED_THROUGHPUT_EXCEEDED,
];

/**
 * Switches on the metrics of the single shards, for a stream that has none. By default that is a stream of the same stack:
 * whoever deploys it sees the change, and pays. What a user has chosen stays.
 *
 * @param wanted what the user says, if anything
 */
export function watchShards(monitoring: IConstruct, stream: kinesis.IStream, wanted?: boolean): void {
  const resource = stream.node.defaultChild;
  const ofThisApp = resource instanceof kinesis.CfnStream ? resource : undefined;
  if (wanted === false || ofThisApp?.desiredShardLevelMetrics !== undefined) return;
  if (ofThisApp && (wanted || Stack.of(ofThisApp) === Stack.of(monitoring))) {
    ofThisApp.desiredShardLevelMetrics = SHARD_LEVEL_METRICS;
    return;
  }
  const remedy = ofThisApp
    ? 'set shardLevelMetrics: true where the monitoring adds the stream'
    : `give the stream shardLevelMetrics [${SHARD_LEVEL_METRICS.join(', ')}] where it is defined, and set shardLevelMetrics: false where the monitoring adds it`;
  Annotations.of(monitoring).addWarningV2(
    'cdk-even-shards:ShardMonitoring.noShardLevelMetrics',
    `the dashboard cannot show a hot shard of ${stream.node.path}, a stream of another stack, unless CloudWatch has metrics ` +
      `of its shards: ${remedy}. CloudWatch charges each of the three metrics of each shard, $0.30 a month in US East`,
  );
}
