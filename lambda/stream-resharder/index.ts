import { describeOperation } from '../../lib/core/resharding/plan-stream-reshard';
import { ReshardTimeOutError } from '../../lib/core/resharding/reshard-errors';
import {
  advanceDeployment,
  inspectStream,
  type ReshardProgress,
  type ReshardTarget,
} from '../../lib/core/resharding/reshard-stream';
import { reshardClient } from '../reshard-client';
import { previousTarget, type ReshardEvent, reshardTarget } from './reshard-event';
import { isRollingBack } from './stack-roll-back';

/**
 * The response to the provider framework. The framework adds the first response to the later events, and sends the last
 * response to CloudFormation.
 */
interface ReshardResponse {
  PhysicalResourceId: string;
  IsComplete: boolean;
  StartedAt?: number;
  Data?: { OpenShardCount: number | 'unknown'; Skew: number | 'unknown' };
}

/**
 * After this time, the function fails with an error that contains the reason. After an hour, CloudFormation would
 * report only a timeout.
 */
const GIVE_UP_AFTER_MS = 50 * 60_000;

/** The time that a new permission can take to become effective. */
const PERMISSION_DELAY_MS = 2 * 60_000;

const kinesis = reshardClient();

/**
 * Reshards a stream to the shard count of a custom resource. The framework invokes the function with CloudFormation's
 * request, and then every few seconds until the response is complete. Each invocation starts at most one operation.
 *
 * The function keeps only the start time, so a failed deployment can be repeated. A roll-back is an ordinary update,
 * with two differences:
 *
 * - If a roll-back deletes the custom resource, the function reshards the stream to its previous count.
 * - If a roll-back cannot reach its count, the roll-back ends with a warning. A failed roll-back would block the stack
 *   until a person repairs it.
 */
export async function handler(event: ReshardEvent): Promise<ReshardResponse> {
  const target = event?.RequestType === 'Delete' ? previousTarget(event) : reshardTarget(event);
  if (target === undefined || (event.RequestType === 'Delete' && !(await isRollingBack(event.StackId)))) {
    return { PhysicalResourceId: event.PhysicalResourceId!, IsComplete: true };
  }
  // Use the time of day, because a monotonic clock cannot be compared between invocations. The framework passes only
  // the first response to later invocations. If the clock is set back, `now` stays at the start time, so that the time
  // of an update in the stream's tag is not in the future. If the clock is set forward, the function gives up too
  // early, and a new deployment continues the resharding.
  const startedAt = event.StartedAt ?? Date.now();
  const now = Math.max(startedAt, Date.now());
  const response = { PhysicalResourceId: target.streamName, StartedAt: startedAt };
  try {
    const progress = await advance(target, now, startedAt);
    if (progress === undefined || !isComplete(target, progress, now - startedAt))
      return { ...response, IsComplete: false };
    return { ...response, IsComplete: true, Data: dataOf(progress) };
  } catch (failure) {
    if (!(await isRollingBack(event.StackId))) throw failure;
    console.warn({ ...target, rolledBack: 'without the previous shard count', failure });
    return { ...response, IsComplete: true, Data: await dataAfterRollBack(target, now) };
  }
}

/**
 * Returns the attributes after a roll-back that did not reach its shard count. Returns `unknown` values if the stream
 * does not exist or cannot be read.
 */
async function dataAfterRollBack({ streamName }: ReshardTarget, now: number): Promise<ReshardResponse['Data']> {
  try {
    return dataOf(await inspectStream(kinesis, { streamName }, now));
  } catch (failure) {
    console.warn({ streamName, unknown: 'the shards of the stream', failure });
    return { OpenShardCount: 'unknown', Skew: 'unknown' };
  }
}

/**
 * Reads the stream. Starts the next operation, unless the resharding has reached its time limit. Returns undefined if a
 * new permission is not yet effective.
 */
async function advance(target: ReshardTarget, now: number, startedAt: number): Promise<ReshardProgress | undefined> {
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

/** The attributes of the custom resource. The skew is unknown while the stream is updating. */
function dataOf({ openShardCount, skew }: ReshardProgress): ReshardResponse['Data'] {
  return { OpenShardCount: openShardCount, Skew: skew ?? 'unknown' };
}

/**
 * Whether the deployment is complete. At the time limit, a deployment is complete if the stream has the right count,
 * even if its shards are not yet even.
 */
function isComplete(target: ReshardTarget, { state, openShardCount }: ReshardProgress, elapsedMs: number): boolean {
  if (state === 'even') return true;
  if (elapsedMs < GIVE_UP_AFTER_MS) return false;
  if (state === 'uneven' && openShardCount === target.shardCount) return true;
  throw new ReshardTimeOutError(target, openShardCount, elapsedMs);
}
