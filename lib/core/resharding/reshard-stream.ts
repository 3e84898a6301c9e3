import { type Clock, systemClock } from '../kernel/clock';
import { checkStreamShardCount } from '../sharding/shard-count';
import type { HashKeyRange } from '../stream-format/hash-key-ranges';
import { type BoundaryMove, boundaryMoves } from './boundary-moves';
import { DEPLOYMENT_TAG, type DeploymentMark, formatDeploymentMark, parseDeploymentMark } from './deployment-mark';
import { isWhole, listOpenShards, type OpenShard } from './open-shards';
import { planStreamReshard, type ReshardOperation } from './plan-stream-reshard';
import { isNotReady, isOutOfDate, isShardQuota } from './refusals';
import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError, ReshardSupersededError } from './reshard-errors';
import { updateShardCount } from './shard-count-update';
import { skewOf } from './skew';
import { describeStream } from './stream-state';
import { readTags, writeTag } from './stream-tags';
import { type PastUpdate, parseUpdateHistory, UPDATE_HISTORY_TAG, updatesLeft } from './update-history';

/** The progress of a stream towards a shard count. */
export interface ReshardProgress {
  /**
   * `even`: the stream has the shard count, and its shards are even. `uneven`: more operations are needed. `busy`: Kinesis is
   * changing the stream, so `skew` and `plan` are not known.
   */
  readonly state: 'even' | 'uneven' | 'busy';
  /** The number of open shards. While the stream is busy, the number that Kinesis reports. */
  readonly openShardCount: number;
  /**
   * The number of hash keys of the widest shard, divided by the mean number of hash keys of a shard. At least 1. Absent while
   * the stream is busy.
   */
  readonly skew?: number;
  /** The operations that are still needed, in order. Empty while the stream is busy. */
  readonly plan: readonly ReshardOperation[];
}

/** The stream to reshard, and the number of shards that it will have. */
export interface ReshardTarget {
  readonly streamName: string;
  /** How many shards the stream will have, a whole number from 1 to 10,000. */
  readonly shardCount: number;
}

/**
 * If the daily limit forbids updates, at most this number of splits and merges may replace the updates. Each split or merge
 * takes up to a minute, and CloudFormation waits for an hour.
 */
const MAX_MOVES_INSTEAD_OF_UPDATES = 30;

/**
 * Reads a stream, and returns the operations that change it to `shardCount` even shards. The function does not change the
 * stream. Use this function for a dry run, or to check a stream for drift.
 *
 * @param target the stream, and the number of shards to plan for; the default of `shardCount` is the current count
 * @param now the time, in milliseconds since 1970
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 * @throws StreamNotReshardableError if the stream is in on-demand mode, where Kinesis chooses the shards, or is being deleted
 * @throws DailyUpdateLimitError if the daily limit forbids the updates, and splits and merges would take too long
 */
export async function inspectStream(
  client: ReshardClient,
  { streamName, shardCount }: Partial<ReshardTarget> & Pick<ReshardTarget, 'streamName'>,
  now: number,
): Promise<ReshardProgress> {
  const { progress } = await surveyStream(client, { streamName, shardCount }, now);
  return progress;
}

/** Requests the next operation, if the stream is ready. */
async function advanceFrom(
  client: ReshardClient,
  target: ReshardTarget,
  survey: Survey,
  now: number,
): Promise<ReshardProgress> {
  if (survey.deployment !== undefined && survey.deployment.shardCount !== target.shardCount) {
    throw new ReshardSupersededError(target, survey.deployment.shardCount, 'deployment');
  }
  await requestNext(client, target, survey, now);
  return survey.progress;
}

/**
 * Reads a stream for a deployment and, if the stream is ready, requests the next operation towards `shardCount` even shards.
 * Call this function every 10 seconds until it returns `even`.
 *
 * The function marks the stream with a tag. A process that works towards another count stops when it reads the mark. The call
 * that writes the mark returns `busy`, because other processes may have sent requests just before the mark. The effect of these
 * requests is visible at the next call. If the tag cannot be written, the deployment continues without it.
 *
 * @throws ReshardSupersededError if a later deployment requires another count
 */
export async function advanceDeployment(
  client: ReshardClient,
  target: ReshardTarget,
  now: number,
  { startedAt, onTagFailure }: DeploymentOptions,
): Promise<ReshardProgress> {
  const survey = await surveyStream(client, target, now, { alwaysReadTags: true });
  const { progress, deployment } = survey;
  if (progress.state === 'busy') return progress;
  const isMarked = deployment?.startedAt === startedAt && deployment.shardCount === target.shardCount;
  if (isMarked) {
    await requestNext(client, target, survey, now, onTagFailure);
    return progress;
  }
  if (deployment !== undefined && deployment.startedAt > startedAt && deployment.shardCount !== target.shardCount) {
    throw new ReshardSupersededError(target, deployment.shardCount, 'deployment');
  }
  const mark = formatDeploymentMark({ startedAt, shardCount: target.shardCount });
  try {
    await writeTag(client, target.streamName, DEPLOYMENT_TAG, mark);
    return { ...progress, state: 'busy' };
  } catch (error) {
    onTagFailure(error as Error);
    await requestNext(client, target, survey, now, onTagFailure);
    return progress;
  }
}

export interface DeploymentOptions {
  /** When the deployment began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Receives the error if Kinesis rejects a tag. */
  onTagFailure(error: Error): void;
}

/** Options of `reshardStream`. */
export interface ReshardOptions {
  /**
   * An abort of this signal stops the work before the next poll of the stream. `reshardStream` then throws the signal's reason.
   * To continue, call `reshardStream` again at any time.
   * @default the work stops only when the stream is even
   */
  signal?: AbortSignal;
  /**
   * Whether the work stops as soon as the stream has a count that the work did not request. Set this option for background
   * work, such as a repair, so that the updates of CloudFormation take precedence. The update of a stream by CloudFormation
   * leaves no mark on the stream.
   * @default false - if other programs change the stream, the work continues with the changed shards
   */
  yieldsToOthers?: boolean;
  /** Receives the progress at each poll of the stream, every five seconds. */
  onProgress?(progress: ReshardProgress): void;
  /**
   * The clock for the delays between polls.
   * @default the system clock
   */
  clock?: Clock;
  /**
   * Returns the time of day, in milliseconds since 1970, for the history of the stream's updates.
   * @default Date.now
   */
  timeOfDay?(): number;
}

/**
 * The interval is long enough for an account with many streams: Kinesis accepts 20 DescribeStreamSummary requests a second for
 * the whole account.
 */
const POLL_INTERVAL_MS = 5_000;

/**
 * Changes a stream to `shardCount` even shards, and waits until the stream has them. Each step takes minutes. Use this function
 * in a script or an operator's tool. The construct `StreamResharding` does the same with each deployment.
 *
 * Applications can write and read records during the work. To continue after a failure, call the function again.
 *
 * @param client the AWS SDK's `new Kinesis({})`, or another object with its methods
 * @returns the progress at the end, with the open shards and the skew
 * @throws ReshardSupersededError if a deployment of the last hour requires another count, or if another program has changed the
 *   count and `yieldsToOthers` is set
 * @throws the same errors as `inspectStream`, and the errors of the client
 */
export async function reshardStream(
  client: ReshardClient,
  target: ReshardTarget,
  { signal, onProgress, clock = systemClock, timeOfDay = Date.now, yieldsToOthers = false }: ReshardOptions = {},
): Promise<ReshardProgress> {
  let before: ReshardProgress | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const survey = await surveyStream(client, target, timeOfDay());
    if (yieldsToOthers && before !== undefined) throwIfOthersChanged(target, before, survey.progress);
    const progress = await advanceFrom(client, target, survey, timeOfDay());
    if (progress.state !== 'busy') before = progress;
    onProgress?.(progress);
    if (progress.state === 'even') return progress;
    await clock.sleep(POLL_INTERVAL_MS);
  }
}

/** Throws if the count is neither the count of the last poll nor the result of the first planned operation. */
function throwIfOthersChanged(
  target: ReshardTarget,
  before: ReshardProgress,
  { state, openShardCount }: ReshardProgress,
): void {
  if (state === 'busy') return;
  const [requested] = before.plan;
  // If the shard quota is used up, a merge comes before a split, so the count may be lower by one for a while.
  const isNear = Math.abs(openShardCount - before.openShardCount) <= 1;
  const isRequested = requested?.type === 'update' && requested.shardCount === openShardCount;
  if (!isNear && !isRequested) throw new ReshardSupersededError(target, openShardCount, 'other');
}

interface Survey {
  readonly progress: ReshardProgress;
  readonly shards: readonly OpenShard[];
  /**
   * The updates of the last 24 hours. Empty if the stream needs no change, because the function then usually does not read the
   * tags.
   */
  readonly history: readonly PastUpdate[];
  readonly deployment: DeploymentMark | undefined;
}

async function surveyStream(
  client: ReshardClient,
  { streamName, shardCount }: { streamName: string; shardCount?: number },
  now: number,
  { alwaysReadTags = false } = {},
): Promise<Survey> {
  if (shardCount !== undefined) checkStreamShardCount('shardCount', shardCount);
  const { active, openShardCount } = await describeStream(client, streamName);
  const shards = active ? await listOpenShards(client, streamName) : [];
  if (!isWhole(shards) || shards.length !== openShardCount) {
    const progress: ReshardProgress = { state: 'busy', openShardCount, plan: [] };
    return { progress, shards, history: [], deployment: undefined };
  }
  const target = { streamName, shardCount: shardCount ?? shards.length };
  const idealPlan = planStreamReshard(shards, target.shardCount, { updatesLeft: Number.POSITIVE_INFINITY });
  const tags = alwaysReadTags || idealPlan.length > 0 ? await readTags(client, streamName) : new Map<string, string>();
  const history = parseUpdateHistory(tags.get(UPDATE_HISTORY_TAG), now);
  const plan = planWithin(history, idealPlan, shards, target);
  return {
    progress: { state: plan.length === 0 ? 'even' : 'uneven', openShardCount, skew: skewOf(shards), plan },
    shards,
    history,
    deployment: parseDeploymentMark(tags.get(DEPLOYMENT_TAG), now),
  };
}

/** The best plan that does not need more updates than Kinesis still allows. */
function planWithin(
  history: readonly PastUpdate[],
  idealPlan: ReshardOperation[],
  shards: readonly OpenShard[],
  { streamName, shardCount }: ReshardTarget,
): ReshardOperation[] {
  const remaining = updatesLeft(history);
  const plan = planStreamReshard(shards, shardCount, {
    updatesLeft: remaining,
    lastUpdateTo: history.at(-1)?.shardCount,
  });
  if (idealPlan.length <= remaining || canMoveInstead(shards, plan, shardCount)) return plan;
  throw new DailyUpdateLimitError(streamName, idealPlan.length, history);
}

/**
 * Whether splits and merges may replace updates. Any number of splits and merges is acceptable for a stream that already has
 * its target count.
 */
function canMoveInstead(shards: readonly OpenShard[], moves: readonly ReshardOperation[], shardCount: number): boolean {
  return moves.length <= MAX_MOVES_INSTEAD_OF_UPDATES || shards.length === shardCount;
}

/**
 * Requests the first operation of the plan. If the stream is not ready, the function does nothing, and the next poll makes a new
 * plan.
 */
async function requestNext(
  client: ReshardClient,
  target: ReshardTarget,
  survey: Survey,
  now: number,
  onTagFailure?: (error: Error) => void,
): Promise<void> {
  const { shards, history, progress } = survey;
  const { streamName, shardCount } = target;
  const [next] = progress.plan;
  if (next === undefined) return;
  try {
    if (next.type !== 'update') return await moveBoundary(client, streamName, shards, next);
    const updates = progress.plan.length;
    await updateShardCount(client, { streamName, shardCount: next.shardCount, updates, history, now, onTagFailure });
  } catch (error) {
    if (error instanceof DailyUpdateLimitError) {
      // The history now contains the rejection, so the next poll plans without updates.
      if (canMoveInstead(shards, boundaryMoves(shards, shardCount), shardCount)) return;
      throw error;
    }
    if (!isShardQuota(error) || shardCount > shards.length) throw error;
    // The stream has enough shards, so it has at least one surplus boundary for each missing boundary.
    const [merge] = boundaryMoves(shards, shardCount, 'merge');
    await moveBoundary(client, streamName, shards, merge!);
  }
}

async function moveBoundary(
  client: ReshardClient,
  streamName: string,
  shards: readonly OpenShard[],
  move: BoundaryMove,
): Promise<void> {
  const idOf = ({ startingHashKey }: HashKeyRange) =>
    shards.find((shard) => shard.startingHashKey === startingHashKey)!.shardId;
  try {
    if (move.type === 'split') {
      await client.splitShard({
        StreamName: streamName,
        ShardToSplit: idOf(move.range),
        NewStartingHashKey: String(move.at),
      });
    } else {
      await client.mergeShards({
        StreamName: streamName,
        ShardToMerge: idOf(move.left),
        AdjacentShardToMerge: idOf(move.right),
      });
    }
  } catch (error) {
    if (!isNotReady(error) && !isOutOfDate(error)) throw error;
  }
}
