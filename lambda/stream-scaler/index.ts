import { CloudWatch } from '@aws-sdk/client-cloudwatch';
import {
  MAX_SHARDS,
  MIN_SHARDS,
  SCALE_IN_ALARM,
  SCALE_OUT_ALARM,
  STREAM_NAME,
} from '../../lib/core/foundation/function-environment';
import { STREAM_NAME_DIMENSION, STREAM_SHARD_METRICS } from '../../lib/core/foundation/function-metrics';
import { scaleStream } from '../../lib/core/resharding/scale-stream';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { requiredEnvironment } from '../required-environment';
import { reshardClient } from '../reshard-client';
import { readLoad } from './read-load';

const streamName = requiredEnvironment(STREAM_NAME);
const bounds = {
  minShards: Number(requiredEnvironment(MIN_SHARDS)),
  maxShards: Number(requiredEnvironment(MAX_SHARDS)),
};
const alarms = { scaleOut: requiredEnvironment(SCALE_OUT_ALARM), scaleIn: requiredEnvironment(SCALE_IN_ALARM) };
const kinesis = reshardClient();
const cloudWatch = new CloudWatch({ maxAttempts: 8 });
const metrics = metricsBy({ [STREAM_NAME_DIMENSION]: streamName });

/** Runs every minute. Gives the stream more or fewer shards as its alarms ask, and writes the metrics that they use. */
export async function handler(): Promise<void> {
  const now = Date.now();
  const load = await readLoad(cloudWatch, alarms);
  const scaling = await scaleStream(kinesis, { streamName, ...bounds, load, now });
  if (scaling === undefined) return;
  const { openShardCount, desiredShardCount, shardCount, updatesLeft } = scaling;
  console.info({ streamName, load, openShardCount, desiredShardCount, updatesLeft });
  publishCounts(metrics, {
    [STREAM_SHARD_METRICS.openShards]: shardCount,
    [STREAM_SHARD_METRICS.updatesLeft]: updatesLeft,
  });
}
