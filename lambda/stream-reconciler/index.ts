import type { Context } from 'aws-lambda';
import { REPAIR, SHARD_COUNT, STREAM_NAME } from '../../lib/core/contract/function-environment';
import { STREAM_NAME_DIMENSION, STREAM_SHARD_METRICS } from '../../lib/core/contract/function-metrics';
import { RESERVED_MS } from '../../lib/core/contract/reserved-time';
import { describeOperation } from '../../lib/core/resharding/plan-stream-reshard';
import { ReshardSupersededError } from '../../lib/core/resharding/reshard-errors';
import { inspectStream, type ReshardProgress, reshardStream } from '../../lib/core/resharding/reshard-stream';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { InvalidEventError } from '../invalid-event-error';
import { requiredEnvironment } from '../required-environment';
import { reshardClient } from '../reshard-client';
import { parseReconcileEvent } from './reconcile-event';

interface ReconcileReport {
  streamName: string;
  /** `busy` while Kinesis is changing the shards of the stream. */
  state: 'even' | 'uneven' | 'busy';
  openShardCount: number;
  skew?: number;
  /** Descriptions of the operations that remove the drift. */
  plan: string[];
}

const streamName = requiredEnvironment(STREAM_NAME);
const shardCount = process.env[SHARD_COUNT] === undefined ? undefined : Number(process.env[SHARD_COUNT]);
const kinesis = reshardClient();
const metrics = metricsBy({ [STREAM_NAME_DIMENSION]: streamName });

export async function handler(
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<ReconcileReport> {
  const progress = shouldRepair(event)
    ? await repair(context.getRemainingTimeInMillis() - RESERVED_MS.repair)
    : await inspect();
  if (progress.skew !== undefined) {
    publishCounts(metrics, {
      [STREAM_SHARD_METRICS.openShards]: progress.openShardCount,
      [STREAM_SHARD_METRICS.skew]: progress.skew,
      [STREAM_SHARD_METRICS.drift]: progress.plan.length,
    });
  }
  const report: ReconcileReport = { streamName, ...progress, plan: progress.plan.map(describeOperation) };
  console.info(report);
  return report;
}

function shouldRepair(event: unknown): boolean {
  const { repair = process.env[REPAIR] === 'true' } = parseReconcileEvent(event);
  if (repair && shardCount === undefined) {
    throw new InvalidEventError('repair', repair, 'false, because the construct has no shardCount');
  }
  return repair;
}

function inspect(): Promise<ReshardProgress> {
  return inspectStream(kinesis, { streamName, shardCount }, Date.now());
}

/**
 * Repairs the stream. Returns when the stream is even, when `timeLeftMs` has passed, or when another process changes
 * the shard count.
 */
async function repair(timeLeftMs: number): Promise<ReshardProgress> {
  const signal = AbortSignal.timeout(Math.max(1, timeLeftMs));
  try {
    return await reshardStream(kinesis, { streamName, shardCount: shardCount! }, { signal, yieldsToOthers: true });
  } catch (error) {
    if (error !== signal.reason && !(error instanceof ReshardSupersededError)) throw error;
    console.info({ streamName, ended: (error as Error).message });
    return inspect();
  }
}
