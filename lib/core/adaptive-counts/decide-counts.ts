import type { ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, floorOf } from './adaptive-config';
import { COPY_LIFE_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ValueMinutes } from './insight-minutes';
import { type NextShardCount, nextShardCount, type WriteMinute } from './next-shard-count';

/** The decision about a value of which something is known. */
export interface ValueDecision extends NextShardCount {
  readonly value: string | undefined;
  /** The number of shards over which writers spread the value now. */
  readonly from: number;
}

/**
 * The decision about each value of which any source knows something, the busiest value first. If two sources tell of the
 * same minute of a value, the one with more writes counts, because no source sees all writers.
 *
 * @param config the configuration that the index emits
 * @param counts those of the values that have grown
 * @param known what each source knows of each value
 * @param now the time, in milliseconds since 1970
 */
export function decideCounts(
  config: ShardedIndexConfig,
  counts: readonly GrownCount[],
  known: readonly ValueMinutes[],
  now: number,
): ValueDecision[] {
  const { maximum } = adaptiveCountsOf(config);
  const decisions = [...merged(known)].map(([value, minutes]) => {
    const grown = counts.find((count) => count.value === value);
    const from = writersShards(config, grown, value);
    const since = grown && knownSince(grown, now);
    return { value, from, ...nextShardCount({ shards: from, maximum, minutes, since, now }) };
  });
  return decisions.sort((a, b) => b.needed - a.needed);
}

/**
 * Since when every writer has known a count. Earlier minutes tell about the earlier count. A change that lies in the future
 * was made by a clock that is wrong. It is ignored, because otherwise its value could not grow before that time. A count
 * that is increased twice by the same minutes stays below twice the need all the same.
 */
function knownSince({ changedAt }: GrownCount, now: number): number | undefined {
  const changedAtMs = Date.parse(changedAt);
  return changedAtMs > now ? undefined : changedAtMs + COPY_LIFE_MS;
}

/** The number of shards over which writers spread a value. */
export function writersShards(
  config: ShardedIndexConfig,
  grown: GrownCount | undefined,
  value: string | undefined,
): number {
  return Math.max(floorOf(config, value).write, grown?.write ?? 1);
}

function merged(known: readonly ValueMinutes[]): Map<string | undefined, WriteMinute[]> {
  const values = new Map<string | undefined, Map<number, WriteMinute>>();
  for (const { value, minutes } of known) {
    const byStart = values.get(value) ?? new Map<number, WriteMinute>();
    for (const minute of minutes) {
      const other = byStart.get(minute.start);
      if (other === undefined || wantedIn(other) < wantedIn(minute)) byStart.set(minute.start, minute);
    }
    values.set(value, byStart);
  }
  return new Map(
    [...values].map(([value, byStart]) => [value, [...byStart.values()].sort((a, b) => a.start - b.start)]),
  );
}

function wantedIn({ admitted, throttled }: WriteMinute): number {
  return admitted + throttled;
}
