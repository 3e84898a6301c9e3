import { MAX_STREAM_SHARDS } from '../sharding/shard-count';
import { fewestShards, mostShards } from './shard-count-steps';
import { type PastUpdate, updatesLeft } from './update-history';

export interface ScalingBounds {
  readonly minShards: number;
  readonly maxShards: number;
}

/** The load of a stream, which the states of its alarms show. `surging` means that a third more shards may not be enough. */
export type Load = 'surging' | 'high' | 'normal' | 'low';

export interface ScalingSituation extends ScalingBounds {
  readonly openShardCount: number;
  readonly load: Load;
  readonly history: readonly PastUpdate[];
  readonly now: number;
}

/**
 * The stream does not scale up within this time after an update. Later, the alarms show only the load of the new shards: they
 * read six minutes of metrics, metrics may be three minutes late, and the function runs every minute.
 */
export const SCALE_OUT_PAUSE_MS = 10 * 60_000;

/**
 * The stream does not scale down within this time after an update, because the scale-in alarm reads half an hour of metrics.
 */
export const SCALE_IN_PAUSE_MS = 30 * 60_000;

/** The factor by which a stream grows under a high load that is not surging. */
const GROWTH = 4 / 3;

/**
 * How many shards a stream should have now.
 *
 * Under a high load, the stream grows by a third. Under a surging load, the shard count doubles. Under a low load, the shard
 * count halves if enough updates are left. The stream needs one update to halve, enough updates to double back to the highest
 * shard count of the last 24 hours, and one spare update. If the shard count is outside its bounds, the stream changes to the
 * nearest bound, whatever the load.
 *
 * The constants of this policy come from simulations of loads of several shapes. In the simulations, the stream needs few
 * shard-hours, and is throttled for less than 1 % of the time if metrics are not late. See the guide to resharding, and `npm
 * run bench auto-scaling`.
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
  return Math.min(load === 'surging' ? mostShards(openShardCount) : grownByAThird(openShardCount), maxShards);
}

function grownByAThird(count: number): number {
  return Math.min(Math.ceil(count * GROWTH), MAX_STREAM_SHARDS);
}

function mayScaleOut({ history, now }: ScalingSituation): boolean {
  return updatesLeft(history) > 0 && now - lastOf(history) >= SCALE_OUT_PAUSE_MS;
}

function mayScaleIn({ history, now, openShardCount }: ScalingSituation, fewer: number): boolean {
  const most = Math.max(openShardCount, ...history.map(({ shardCount }) => shardCount));
  const doublingsBack = Math.ceil(Math.log2(most / fewer));
  return updatesLeft(history) >= 1 + doublingsBack + 1 && now - lastOf(history) >= SCALE_IN_PAUSE_MS;
}

function lastOf(history: readonly PastUpdate[]): number {
  return history.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
}
