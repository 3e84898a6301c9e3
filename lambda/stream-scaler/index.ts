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
import { ATTEMPTS_TO_LOOK, boundedHandler, reshardClient } from '../reshard-client';
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
const cloudWatch = new CloudWatchClient({ maxAttempts: ATTEMPTS_TO_LOOK, requestHandler: boundedHandler() });
const metrics = metricsBy({ [STREAM_NAME_DIMENSION]: streamName });

/**
 * Runs every minute. Gives the stream more or fewer shards as its alarms ask, and writes the metrics that they use, even
 * if it fails to scale: without these metrics the alarms are blind.
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
