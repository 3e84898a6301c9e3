import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import {
  MAX_SHARDS,
  MIN_SHARDS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
  SURGE_ALARM,
} from '../../lib/core/contract/function-environment';
import { STREAM_NAME_DIMENSION, STREAM_SHARD_METRICS } from '../../lib/core/contract/function-metrics';
import { scaleStream } from '../../lib/core/resharding/scale-stream';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { inTime } from '../in-time';
import { requiredEnvironment } from '../required-environment';
import { boundedHandler, READ_ATTEMPTS, reshardClient } from '../reshard-client';
import { readLoad } from './read-load';

const streamName = requiredEnvironment(STREAM_NAME);
const bounds = {
  minShards: Number(requiredEnvironment(MIN_SHARDS)),
  maxShards: Number(requiredEnvironment(MAX_SHARDS)),
};
const alarms = {
  surge: requiredEnvironment(SURGE_ALARM),
  scaleOut: requiredEnvironment(SCALE_OUT_ALARM),
  scaleIn: requiredEnvironment(SCALE_IN_ALARM),
};
const kinesis = reshardClient();
const cloudWatch = new CloudWatchClient({ maxAttempts: READ_ATTEMPTS, requestHandler: boundedHandler() });
const metrics = metricsBy({ [STREAM_NAME_DIMENSION]: streamName });

/**
 * Runs every minute. Scales the stream by the state of its alarms. It also writes the metrics that the alarms need,
 * even if scaling fails.
 */
export async function handler(): Promise<void> {
  const readAlarms = () =>
    readLoad(
      { describeAlarms: (input) => inTime((options) => cloudWatch.send(new DescribeAlarmsCommand(input), options)) },
      alarms,
    );
  const scaling = await scaleStream(kinesis, { streamName, ...bounds, readLoad: readAlarms, now: Date.now() });
  const { shardCount, updatesLeft, load, desiredShardCount, failure } = scaling;
  console.info({ streamName, load, shardCount, desiredShardCount, updatesLeft });
  const isHigh = load === 'high' || load === 'surging';
  publishCounts(metrics, {
    [STREAM_SHARD_METRICS.openShards]: shardCount,
    [STREAM_SHARD_METRICS.updatesLeft]: updatesLeft,
    [STREAM_SHARD_METRICS.highLoadAtMaximum]: Number(isHigh && shardCount >= bounds.maxShards),
  });
  if (failure !== undefined) throw failure;
}
