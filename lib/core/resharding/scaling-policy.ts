import { fewestShards, mostShards } from './shard-count-steps';
import { DAILY_UPDATES, type PastUpdate, updatesLeft } from './update-history';

export interface ScalingBounds {
  readonly minShards: number;
  readonly maxShards: number;
}

/** What a stream's alarms say of its load. */
export type Load = 'high' | 'normal' | 'low';

export interface ScalingSituation extends ScalingBounds {
  readonly openShardCount: number;
  readonly load: Load;
  /** The updates of the last 24 hours, oldest first. */
  readonly history: readonly PastUpdate[];
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** After an update the load needs so long to show on the new shards: the alarm's three minutes, and some to arrive. */
export const SCALE_OUT_PAUSE_MS = 5 * 60_000;

/** No two updates that take shards away are closer than this. */
export const SCALE_IN_PAUSE_MS = 60 * 60_000;

/** Of the updates of a day, so many are kept for growing: taking shards away saves money, adding them saves records. */
export const UPDATES_KEPT_FOR_SCALE_OUT = DAILY_UPDATES / 2;

/**
 * How many shards a stream should have now.
 *
 * It doubles under a high load and halves under a low one, for its updates are few: ten a day. Whoever grows by a little
 * has used them up before a steep rise is over. Bounds that were changed are kept at once, whatever the load.
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
