import { type Clock, systemClock } from '../foundation/clock';
import type { HashKeyRange } from '../foundation/hash-key-ranges';
import { checkShardCount, MAX_STREAM_SHARDS } from '../foundation/shard-count';
import type { BoundaryMove } from './boundary-moves';
import { isWhole, listOpenShards, type OpenShard } from './open-shards';
import { planStreamReshard, type ReshardOperation } from './plan-stream-reshard';
import type { ReshardClient } from './reshard-client';
import { DailyUpdateLimitError } from './reshard-errors';
import { isNotReady, readUpdateHistory, updateShardCount } from './shard-count-update';
import { skewOf } from './skew';
import { describeStream } from './stream-state';
import { type PastUpdate, updatesLeft } from './update-history';

/** The progress of a stream towards a shard count. */
export interface ReshardProgress {
  /**
   * `even`: the stream has the shard count, and its shards are even. `uneven`: operations are left. `busy`: Kinesis is
   * changing the stream, so `skew` and `plan` are not known.
   */
  readonly state: 'even' | 'uneven' | 'busy';
  /** The number of open shards. While the stream is busy, it is the number that Kinesis reports. */
  readonly openShardCount: number;
  /** The keys of the widest shard divided by the mean, at least 1. Absent while the stream is busy. */
  readonly skew?: number;
  /** The operations that are left, in order. Empty while the stream is busy. */
  readonly plan: readonly ReshardOperation[];
}

export interface ReshardTarget {
  readonly streamName: string;
  /** How many shards the stream will have, a whole number from 1 to 10,000. */
  readonly shardCount: number;
}

/**
 * The most splits and merges that replace updates which the daily limit forbids. Each takes up to a minute, so more of
 * them would not end within the hour that CloudFormation waits.
 */
const MAX_MOVES_IN_PLACE_OF_UPDATES = 30;

/**
 * Looks at a stream and returns the operations that would take it to `shardCount` even shards. It changes nothing. Use
 * it for a dry run, or to check a stream for drift.
 *
 * @param target the stream, and the number of shards to plan for; without `shardCount`, the count that the stream has
 * @param now the time, in milliseconds since 1970
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 * @throws StreamNotReshardableError if the stream is in on-demand mode, where Kinesis chooses the shards, or is being
 *   deleted
 * @throws DailyUpdateLimitError if the daily limit forbids the updates, and splits and merges would take too long
 */
export async function inspectStream(
  client: ReshardClient,
  { streamName, shardCount }: Partial<ReshardTarget> & Pick<ReshardTarget, 'streamName'>,
  now: number,
): Promise<ReshardProgress> {
  const { progress } = await survey(client, { streamName, shardCount }, now);
  return progress;
}

/**
 * Looks at a stream and, if it is ready, requests the first operation that takes it to `shardCount` even shards.
 *
 * Call it every few seconds until the state is `even`. It remembers nothing and makes a new plan each time. So any
 * process can make the next call, also after a call that failed half way or after other changes to the stream.
 *
 * It throws the same errors as `inspectStream`.
 *
 * @param now the time, in milliseconds since 1970
 * @returns the progress before the request
 */
export async function advanceReshard(
  client: ReshardClient,
  { streamName, shardCount }: ReshardTarget,
  now: number,
): Promise<ReshardProgress> {
  const { progress, shards, history } = await survey(client, { streamName, shardCount }, now);
  const [next] = progress.plan;
  if (next?.type === 'update') {
    const updates = progress.plan.length;
    await updateShardCount(client, { streamName, shardCount: next.shardCount, updates, history, now });
  } else if (next !== undefined) {
    await moveBoundary(client, streamName, shards, next);
  }
  return progress;
}

/** Options of `reshardStream`. */
export interface ReshardOptions {
  /**
   * Ends the work before the next look at the stream. `reshardStream` then throws the signal's reason. To go on, call
   * it again at any time.
   * @default the work ends only when the stream is even
   */
  signal?: AbortSignal;
  /** Receives the progress at each look at the stream, every five seconds. */
  onProgress?(progress: ReshardProgress): void;
  /**
   * The clock for the waits between two looks.
   * @default the clock of the system
   */
  clock?: Clock;
  /**
   * Returns the time of day, in milliseconds since 1970. The history of the stream's updates is kept by it.
   * @default Date.now
   */
  timeOfDay?(): number;
}

/** Kinesis answers 20 DescribeStreamSummary requests a second for the whole account. */
const LOOK_INTERVAL_MS = 5_000;

/**
 * Takes a stream to `shardCount` even shards, and waits until it has them. Each step takes minutes. Use it in a script
 * or in an operator's tool; the construct `StreamResharding` does the same with each deployment.
 *
 * Records can be written and read meanwhile. To go on after a failure, call it again.
 *
 * It throws the same errors as `inspectStream`, and the errors of the client.
 *
 * @param client the AWS SDK's `new Kinesis({})`, or another object with its methods
 * @returns the progress at the end, with the open shards and the skew
 */
export async function reshardStream(
  client: ReshardClient,
  target: ReshardTarget,
  { signal, onProgress, clock = systemClock, timeOfDay = Date.now }: ReshardOptions = {},
): Promise<ReshardProgress> {
  for (;;) {
    signal?.throwIfAborted();
    const progress = await advanceReshard(client, target, timeOfDay());
    onProgress?.(progress);
    if (progress.state === 'even') return progress;
    await clock.sleep(LOOK_INTERVAL_MS);
  }
}

interface Survey {
  readonly progress: ReshardProgress;
  readonly shards: readonly OpenShard[];
  /** The updates of the last 24 hours. It is empty if the plan does not need them. */
  readonly history: readonly PastUpdate[];
}

async function survey(
  client: ReshardClient,
  { streamName, shardCount }: { streamName: string; shardCount?: number },
  now: number,
): Promise<Survey> {
  if (shardCount !== undefined) checkShardCount('shardCount', shardCount, MAX_STREAM_SHARDS);
  const { active, openShardCount } = await describeStream(client, streamName);
  const shards = active ? await listOpenShards(client, streamName) : [];
  if (!isWhole(shards)) return { progress: { state: 'busy', openShardCount, plan: [] }, shards, history: [] };

  const target = { streamName, shardCount: shardCount ?? shards.length };
  const wish = planStreamReshard(shards, target.shardCount, { updatesLeft: Number.POSITIVE_INFINITY });
  const history = wish[0]?.type === 'update' ? await readUpdateHistory(client, streamName, now) : [];
  const plan = planWithin(history, wish, shards, target);
  const state = plan.length === 0 ? 'even' : 'uneven';
  return { progress: { state, openShardCount: shards.length, skew: skewOf(shards), plan }, shards, history };
}

/** The best plan that the updates of the last 24 hours still allow. */
function planWithin(
  history: readonly PastUpdate[],
  wish: ReshardOperation[],
  shards: readonly OpenShard[],
  { streamName, shardCount }: ReshardTarget,
): ReshardOperation[] {
  const left = updatesLeft(history);
  const plan = planStreamReshard(shards, shardCount, { updatesLeft: left, lastUpdateTo: history.at(-1)?.shardCount });
  const limited = wish[0]?.type === 'update' && wish.length > left;
  if (!limited || plan.length <= MAX_MOVES_IN_PLACE_OF_UPDATES || shards.length === shardCount) return plan;
  throw new DailyUpdateLimitError(streamName, wish.length, history);
}

/** Requests a split or a merge. It does nothing if the stream is not ready, because the next look makes a new plan. */
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
    if (!isNotReady(error)) throw error;
  }
}
