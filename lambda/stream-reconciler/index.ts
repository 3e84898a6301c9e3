import type { Context } from 'aws-lambda';
import { REPAIR, SHARD_COUNT, STREAM_NAME } from '../../lib/core/contract/function-environment';
import { STREAM_NAME_DIMENSION, STREAM_SHARD_METRICS } from '../../lib/core/contract/function-metrics';
import { describeOperation } from '../../lib/core/resharding/plan-stream-reshard';
import { ReshardSupersededError } from '../../lib/core/resharding/reshard-errors';
import { inspectStream, type ReshardProgress, reshardStream } from '../../lib/core/resharding/reshard-stream';
import { metricsBy, publishCounts } from '../embedded-metrics';
import { InvalidEventError } from '../invalid-event-error';
import { requiredEnvironment } from '../required-environment';
import { reshardClient } from '../reshard-client';

/** A scheduled event, or one of your own. */
interface ReconcileEvent {
  /** Whether to repair drift, or to report it. @default what the construct was given */
  readonly repair?: boolean;
}

interface ReconcileReport {
  streamName: string;
  /** `busy` while someone is changing the stream. */
  state: 'even' | 'uneven' | 'busy';
  openShardCount: number;
  skew?: number;
  /** The operations that take the stream to its target, in words. */
  plan: string[];
}

/** An operation that is in progress when the time is up goes on by itself. The next run does the rest. */
const LAST_LOOK_MS = 15_000;

const streamName = requiredEnvironment(STREAM_NAME);
const shardCount = process.env[SHARD_COUNT] === undefined ? undefined : Number(process.env[SHARD_COUNT]);
const kinesis = reshardClient();
const metrics = metricsBy({ [STREAM_NAME_DIMENSION]: streamName });

export async function handler(
  event: ReconcileEvent,
  context: Pick<Context, 'getRemainingTimeInMillis'>,
): Promise<ReconcileReport> {
  const progress = repairs(event) ? await repair(context.getRemainingTimeInMillis() - LAST_LOOK_MS) : await inspect();
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

function repairs(event: ReconcileEvent): boolean {
  const { repair = process.env[REPAIR] === 'true' }: ReconcileEvent = Object(event);
  if (typeof repair !== 'boolean') throw new InvalidEventError('repair', repair, 'true or false');
  if (repair && shardCount === undefined) {
    throw new InvalidEventError(
      'repair',
      repair,
      'false because the construct does not declare how many shards the stream should have',
    );
  }
  return repair;
}

function inspect(): Promise<ReshardProgress> {
  return inspectStream(kinesis, { streamName, shardCount }, Date.now());
}

/** The progress when the stream is repaired, the time is up, or others take the stream to another count. */
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
