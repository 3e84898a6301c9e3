import type { ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, floorOf } from './adaptive-config';
import { MAX_COUNT_AGE_MS } from './count-age';
import type { GrownCount } from './grown-count';
import { type NextShardCount, nextShardCount, type WriteMinute } from './next-shard-count';

/** A value, and the minutes in which its writes were throttled. */
export interface ValueMinutes {
  readonly value: string | undefined;
  /** The minutes, oldest first. */
  readonly minutes: readonly WriteMinute[];
}

/** The decision about the count of one value. */
export interface ValueDecision extends NextShardCount {
  readonly value: string | undefined;
  /** The number of shards that writers use now. */
  readonly from: number;
}

/**
 * Decides whether to increase the count of each reported value. Returns the decisions, beginning with the busiest value.
 *
 * @param config the configuration that the index emits
 * @param counts the stored counts of all values whose counts have grown
 * @param reported the writes of each value that writers have reported
 * @param now the time, in milliseconds since 1970
 */
export function decideCounts(
  config: ShardedIndexConfig,
  counts: readonly GrownCount[],
  reported: readonly ValueMinutes[],
  now: number,
): ValueDecision[] {
  const { maximum } = adaptiveCountsOf(config);
  const decisions = reported.map(({ value, minutes }) => {
    const grown = counts.find((count) => count.value === value);
    const from = writersShards(config, grown, value);
    const since = grown && usedSince(grown, now);
    return { value, from, ...nextShardCount({ shards: from, maximum, minutes, since, now }) };
  });
  return decisions.sort((a, b) => b.needed - a.needed);
}

/**
 * The time from which all writers use the current count. Minutes before this time show the load with an earlier count. A time
 * of change in the future comes from a wrong clock, so the function ignores it. Otherwise the count could not grow before that
 * time. The same minutes can then increase a count twice, but the count stays below twice the number of shards that the writes
 * need.
 */
function usedSince({ changedAt }: GrownCount, now: number): number | undefined {
  const changedAtMs = Date.parse(changedAt);
  return changedAtMs > now ? undefined : changedAtMs + MAX_COUNT_AGE_MS;
}

/** The number of shards that writers use for a value. */
export function writersShards(
  config: ShardedIndexConfig,
  grown: GrownCount | undefined,
  value: string | undefined,
): number {
  return Math.max(floorOf(config, value).write, grown?.write ?? 1);
}
