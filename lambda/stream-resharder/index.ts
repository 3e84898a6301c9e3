import { describeOperation } from '../../lib/core/resharding/plan-stream-reshard';
import { ReshardTimeOutError } from '../../lib/core/resharding/reshard-errors';
import {
  advanceDeployment,
  inspectStream,
  type ReshardProgress,
  type ReshardTarget,
} from '../../lib/core/resharding/reshard-stream';
import { reshardClient } from '../reshard-client';
import { countOfBefore, type ReshardEvent, reshardTarget } from './reshard-event';
import { isRollingBack } from './stack-roll-back';

/** An answer to the provider framework, which adds it to the event and sends it to CloudFormation in the end. */
interface ReshardAnswer {
  PhysicalResourceId: string;
  IsComplete: boolean;
  StartedAt?: number;
  Data?: { OpenShardCount: number | 'unknown'; Skew: number | 'unknown' };
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
 * It remembers only when it began. So a deployment that failed can be run again, and a roll-back is an ordinary update,
 * but for two things: what a roll-back deletes is what the update has created, so the stream goes back to the count of
 * before; and a roll-back that cannot reach its count ends with a warning, because a stack whose roll-back has failed can
 * only be freed by hand.
 */
export async function handler(event: ReshardEvent): Promise<ReshardAnswer> {
  const target = event?.RequestType === 'Delete' ? countOfBefore(event) : reshardTarget(event);
  if (target === undefined || (event.RequestType === 'Delete' && !(await isRollingBack(event.StackId)))) {
    return { PhysicalResourceId: event.PhysicalResourceId!, IsComplete: true };
  }
  // The time of day, because no other clock goes on from one invocation to the next: the framework hands over what the first
  // answer said, and nothing later. Lambda keeps its clock, so nobody sets it. If it is set back all the same, the deployment
  // stands still in time rather than before its beginning, where it would take its own mark for one of a time to come; if it is
  // set ahead, the function gives up too early, and deploying again goes on from there.
  const startedAt = event.StartedAt ?? Date.now();
  const now = Math.max(startedAt, Date.now());
  const answer = { PhysicalResourceId: target.streamName, StartedAt: startedAt };
  try {
    const progress = await look(target, now, startedAt);
    if (progress === undefined || !isComplete(target, progress, now - startedAt))
      return { ...answer, IsComplete: false };
    return { ...answer, IsComplete: true, Data: dataOf(progress) };
  } catch (failure) {
    if (!(await isRollingBack(event.StackId))) throw failure;
    console.warn({ ...target, rolledBack: 'without the shards of before', failure });
    return { ...answer, IsComplete: true, Data: await dataAfterRollBack(target, now) };
  }
}

/** The shards that a roll-back leaves. It must not fail because the stream is gone, or cannot be read. */
async function dataAfterRollBack({ streamName }: ReshardTarget, now: number): Promise<ReshardAnswer['Data']> {
  try {
    return dataOf(await inspectStream(kinesis, { streamName }, now));
  } catch (failure) {
    console.warn({ streamName, unknown: 'the shards of the stream', failure });
    return { OpenShardCount: 'unknown', Skew: 'unknown' };
  }
}

/** Asks the stream for the next operation too, unless the time is up. */
async function look(target: ReshardTarget, now: number, startedAt: number): Promise<ReshardProgress | undefined> {
  const onTagFailure = (failure: Error) => console.warn({ ...target, untagged: true, failure });
  try {
    const progress =
      now - startedAt >= GIVE_UP_AFTER_MS
        ? await inspectStream(kinesis, target, now)
        : await advanceDeployment(kinesis, target, now, { startedAt, onTagFailure });
    const { state, openShardCount, skew, plan } = progress;
    const next = plan[0] && describeOperation(plan[0]);
    console.info({ ...target, state, openShardCount, skew, next, left: plan.length });
    return progress;
  } catch (error) {
    if ((error as Error).name === 'AccessDeniedException' && now - startedAt < PERMISSION_DELAY_MS) return undefined;
    throw error;
  }
}

/** The attributes of the custom resource. The skew of a stream that is busy is not known. */
function dataOf({ openShardCount, skew }: ReshardProgress): ReshardAnswer['Data'] {
  return { OpenShardCount: openShardCount, Skew: skew ?? 'unknown' };
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
