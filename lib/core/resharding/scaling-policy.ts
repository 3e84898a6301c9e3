import { fewestShards, mostShards } from './shard-count-steps';
import { DAILY_UPDATES, type PastUpdate, updatesLeft } from './update-history';

export interface ScalingBounds {
  readonly minShards: number;
  readonly maxShards: number;
}

/** The load of a stream, according to its alarms. */
export type Load = 'high' | 'normal' | 'low';

export interface ScalingSituation extends ScalingBounds {
  readonly openShardCount: number;
  readonly load: Load;
  /** The updates of the last 24 hours, oldest first. */
  readonly history: readonly PastUpdate[];
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** After an update, the new load shows only after the alarm's three minutes and the delay of the metrics. */
export const SCALE_OUT_PAUSE_MS = 5 * 60_000;

/** Two updates that take shards away are at least this far apart. */
export const SCALE_IN_PAUSE_MS = 60 * 60_000;

/**
 * How many updates of a day are reserved for more shards. Fewer shards only save money, but more shards can prevent
 * throttling.
 */
export const UPDATES_KEPT_FOR_SCALE_OUT = DAILY_UPDATES / 2;

/**
 * How many shards a stream should have now.
 *
 * The count doubles under a high load and halves under a low load, because a stream has only ten updates a day. With
 * smaller steps, a steep rise could use up all updates before it is over. Changed bounds apply at once, under any load.
 */
export function desiredShardCount(situation: ScalingSituation): number {
  const { openShardCount, minShards, maxShards, load } = situation;
  if (openShardCount < minShards) return minShards;
  if (openShardCount > maxShards) return maxShards;
  if (load === 'high' && mayScaleOut(situation)) return Math.min(mostShards(openShardCount), maxShards);
  if (load === 'low' && mayScaleIn(situation)) return Math.max(fewestShards(openShardCount), minShards);
  return openShardCount;
}

function mayScaleOut({ history, now }: ScalingSituation): boolean {
  return updatesLeft(history) > 0 && now - lastOf(history) >= SCALE_OUT_PAUSE_MS;
}

function mayScaleIn({ history, now }: ScalingSituation): boolean {
  return updatesLeft(history) > UPDATES_KEPT_FOR_SCALE_OUT && now - lastOf(history) >= SCALE_IN_PAUSE_MS;
}

function lastOf(history: readonly PastUpdate[]): number {
  return history.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
}
