import type { ShardedIndexConfig } from '../sharded-index';
import { adaptiveCountsOf, floorOf } from './adaptive-config';
import { COPY_LIFE_MS } from './copy-life';
import type { GrownCount } from './grown-count';
import type { ValueMinutes } from './insight-minutes';
import { type NextShardCount, nextShardCount, type WriteMinute } from './next-shard-count';

/** What to do about a value of which something is known. */
export interface ValueDecision extends NextShardCount {
  readonly value: string | undefined;
  /** Over how many shards writers spread it now. */
  readonly from: number;
}

/**
 * What to do about each value of which something is known, from whatever sources, the busiest first. Of two sources that tell
 * of one minute of a value, the one that tells of more writes counts: no source sees all writers.
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
 * Since when every writer has known a count: minutes before say how the count before was. A change that is still to come was
 * made by a clock that is wrong. It says nothing, because its value would not grow before that time. A count that is raised
 * twice by the same minutes stays below twice the need all the same.
 */
function knownSince({ changedAt }: GrownCount, now: number): number | undefined {
  const changedAtMs = Date.parse(changedAt);
  return changedAtMs > now ? undefined : changedAtMs + COPY_LIFE_MS;
}

/** Over how many shards writers spread a value. */
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
