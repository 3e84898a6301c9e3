import { MAX_STREAM_SHARDS } from '../sharding/shard-count';
import { fewestShards, mostShards } from './shard-count-steps';
import { type PastUpdate, updatesLeft } from './update-history';

export interface ScalingBounds {
  readonly minShards: number;
  readonly maxShards: number;
}

/** What the alarms of a stream say about its load. `surging` is so high that a third more shards may not be enough. */
export type Load = 'surging' | 'high' | 'normal' | 'low';

export interface ScalingSituation extends ScalingBounds {
  readonly openShardCount: number;
  readonly load: Load;
  /** The updates of the last 24 hours, oldest first. */
  readonly history: readonly PastUpdate[];
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/**
 * How long the load needs after an update to show on the new shards: six minutes for which the alarms look back, three
 * minutes by which metrics may be late, and one minute for the function itself.
 */
export const SCALE_OUT_PAUSE_MS = 10 * 60_000;

/** The half hour for which the scale-in alarm looks back must be without an update. */
export const SCALE_IN_PAUSE_MS = 30 * 60_000;

/** By how much a stream grows under a high load that does not surge. */
const GROWTH = 4 / 3;

/**
 * How many shards a stream should have now.
 *
 * It grows by a third under a high load and doubles under a surging one; it halves under a low one if enough updates are
 * left to double back to the most shards of the last 24 hours, and one more. If its bounds have changed, the stream moves
 * within them at once, whatever the load.
 *
 * The numbers were found by simulation, over loads of several shapes: few shard-hours, with throttling below 1 % of the
 * time if metrics are in time. See the guide to resharding, and `npm run bench auto-scaling`.
 */
export function desiredShardCount(situation: ScalingSituation): number {
  const { openShardCount, minShards, maxShards, load } = situation;
  if (openShardCount < minShards) return minShards;
  if (openShardCount > maxShards) return maxShards;
  if (load === 'low') {
    const fewer = Math.max(fewestShards(openShardCount), minShards);
    return mayScaleIn(situation, fewer) ? fewer : openShardCount;
  }
  if (load === 'normal' || !mayScaleOut(situation)) return openShardCount;
  return Math.min(load === 'surging' ? mostShards(openShardCount) : aThirdMore(openShardCount), maxShards);
}

function aThirdMore(count: number): number {
  return Math.min(Math.ceil(count * GROWTH), MAX_STREAM_SHARDS);
}

function mayScaleOut({ history, now }: ScalingSituation): boolean {
  return updatesLeft(history) > 0 && now - lastOf(history) >= SCALE_OUT_PAUSE_MS;
}

function mayScaleIn({ history, now, openShardCount }: ScalingSituation, fewer: number): boolean {
  const most = Math.max(openShardCount, ...history.map(({ shardCount }) => shardCount));
  const wayBack = Math.ceil(Math.log2(most / fewer));
  return updatesLeft(history) >= 1 + wayBack + 1 && now - lastOf(history) >= SCALE_IN_PAUSE_MS;
}

function lastOf(history: readonly PastUpdate[]): number {
  return history.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
}
