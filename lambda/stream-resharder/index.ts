import { describeOperation } from '../../lib/core/resharding/plan-stream-reshard';
import { ReshardTimeOutError } from '../../lib/core/resharding/reshard-errors';
import {
  advanceDeployment,
  inspectStream,
  type ReshardProgress,
  type ReshardTarget,
} from '../../lib/core/resharding/reshard-stream';
import { reshardClient } from '../reshard-client';
import { type ReshardEvent, reshardTarget } from './reshard-event';

/** An answer to the provider framework, which adds it to the event and sends it to CloudFormation in the end. */
export interface ReshardAnswer {
  PhysicalResourceId: string;
  IsComplete: boolean;
  StartedAt?: number;
  Data?: { OpenShardCount: number; Skew: number };
}

/**
 * CloudFormation waits an hour and then reports only that it has waited. So the function gives up earlier, with a
 * reason.
 */
const GIVE_UP_AFTER_MS = 50 * 60_000;

/** A permission that a deployment has just granted takes a while to be effective everywhere. */
const PERMISSION_DELAY_MS = 2 * 60_000;

const kinesis = reshardClient();

/**
 * Takes a stream to the shard count that a custom resource declares, an operation each time it is called: first with
 * CloudFormation's request, then every few seconds until it says that it is complete.
 *
 * It remembers only when it began. So a deployment that failed can be run again, and a roll-back is an ordinary update.
 */
export async function handler(event: ReshardEvent): Promise<ReshardAnswer> {
  if (event.RequestType === 'Delete') return { PhysicalResourceId: event.PhysicalResourceId!, IsComplete: true };
  const target = reshardTarget(event);
  // The time of day, because no other clock goes on from one invocation to the next.
  const now = Date.now();
  const startedAt = event.StartedAt ?? now;
  const progress = await look(target, now, startedAt);
  const answer = { PhysicalResourceId: target.streamName, StartedAt: startedAt };
  if (progress === undefined) return { ...answer, IsComplete: false };
  const { state, openShardCount, skew, plan } = progress;
  console.info({
    ...target,
    state,
    openShardCount,
    skew,
    next: plan[0] && describeOperation(plan[0]),
    left: plan.length,
  });
  if (!isComplete(target, progress, now - startedAt)) return { ...answer, IsComplete: false };
  return { ...answer, IsComplete: true, Data: { OpenShardCount: openShardCount, Skew: skew! } };
}

/** Asks the stream for the next operation too, unless the time is up. */
async function look(target: ReshardTarget, now: number, startedAt: number): Promise<ReshardProgress | undefined> {
  try {
    if (now - startedAt >= GIVE_UP_AFTER_MS) return await inspectStream(kinesis, target, now);
    return await advanceDeployment(kinesis, target, now, startedAt);
  } catch (error) {
    if ((error as Error).name === 'AccessDeniedException' && now - startedAt < PERMISSION_DELAY_MS) return undefined;
    throw error;
  }
}

/**
 * If the stream has its shard count when the time is up, the deployment succeeds, even if the shards are not yet even.
 */
function isComplete(target: ReshardTarget, { state, openShardCount }: ReshardProgress, elapsedMs: number): boolean {
  if (state === 'even') return true;
  if (elapsedMs < GIVE_UP_AFTER_MS) return false;
  if (state === 'uneven' && openShardCount === target.shardCount) return true;
  throw new ReshardTimeOutError(target, openShardCount, elapsedMs);
}
