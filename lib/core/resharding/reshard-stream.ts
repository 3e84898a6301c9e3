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

/** Where a stream stands on its way to a shard count. */
export interface ReshardProgress {
  /** `busy` while the stream is being changed: what follows from its shards is not known. */
  readonly state: 'even' | 'uneven' | 'busy';
  /** How many shards are open; while the stream is busy, as far as it tells. */
  readonly openShardCount: number;
  /** How many times the mean the widest shard holds. */
  readonly skew?: number;
  /** What is left to do, first things first. */
  readonly plan: readonly ReshardOperation[];
}

export interface ReshardTarget {
  readonly streamName: string;
  /** How many shards the stream is to have, a whole number from 1 to 10,000. */
  readonly shardCount: number;
}

/**
 * The most splits and merges that are made in place of updates which the daily limit forbids: at up to a minute each,
 * more would not end within the hour that CloudFormation waits.
 */
const MOST_MOVES_IN_PLACE_OF_UPDATES = 30;

/**
 * Looks at a stream and says what takes it to `shardCount` even shards. Changes nothing.
 *
 * @param target the stream, and the `shardCount` that it is to have; without one, the count that it has
 * @param now the time, in milliseconds since 1970
 * @throws InvalidShardCountError unless the count is a whole number from 1 to 10,000
 * @throws StreamNotReshardableError for a stream in on-demand mode, whose shard count is the service's choice
 * @throws DailyUpdateLimitError if the daily limit forbids the updates it takes, and splits and merges would take too long
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
 * Looks at a stream and, if it is ready, asks it for the first operation that takes it to `shardCount` even shards.
 *
 * Call it again and again, with seconds in between, until it says `even`. It remembers nothing and plans anew each time,
 * so it does not matter who calls it, whether the last call failed half way, or what else happened to the stream.
 *
 * Throws what `inspectStream` throws.
 *
 * @param now the time, in milliseconds since 1970
 * @returns how the stream stood before
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

export interface ReshardOptions {
  /** Ends the work between two looks at the stream: it throws the signal's reason, and can be gone on with any time. */
  signal?: AbortSignal;
  /** Told how the stream stood at each look. */
  onProgress?(progress: ReshardProgress): void;
  /** Waits between two looks. @default the system's clock */
  clock?: Clock;
  /** The time of day, in milliseconds since 1970: the stream keeps its updates of a day by it. @default Date.now */
  timeOfDay?(): number;
}

/** Kinesis answers 20 DescribeStreamSummary a second for the whole account. */
const LOOK_INTERVAL_MS = 5_000;

/**
 * Takes a stream to `shardCount` even shards and waits until it is there: minutes for each step.
 *
 * Records can be written and read all the while. To go on after a failure, call it again.
 *
 * Throws what `inspectStream` throws, and what the client throws.
 *
 * @returns how the stream stands in the end: open shards, skew
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
  /** The updates of the last 24 hours; left unread where the plan does without them. */
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

/** What the updates of the last 24 hours leave of the plan one would wish for. */
function planWithin(
  history: readonly PastUpdate[],
  wish: ReshardOperation[],
  shards: readonly OpenShard[],
  { streamName, shardCount }: ReshardTarget,
): ReshardOperation[] {
  const left = updatesLeft(history);
  const plan = planStreamReshard(shards, shardCount, { updatesLeft: left, lastUpdateTo: history.at(-1)?.shardCount });
  const limited = wish[0]?.type === 'update' && wish.length > left;
  if (!limited || plan.length <= MOST_MOVES_IN_PLACE_OF_UPDATES || shards.length === shardCount) return plan;
  throw new DailyUpdateLimitError(streamName, wish.length, history);
}

/** A stream that is not ready is left alone: the next look will find what is to do. */
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
