import type { ShardedIndexConfig } from '../sharded-index';
import { SHARD_SEPARATOR } from '../sharding/shard-format';
import type { WriteMinute } from './next-shard-count';
import { uncounted, wantedWrites } from './wanted-writes';

/** A key in a report of Contributor Insights, in the AWS SDK's terms. */
export interface InsightContributor {
  Keys?: string[] | undefined;
  Datapoints?: Datapoint[] | undefined;
}

interface Datapoint {
  Timestamp?: Date | undefined;
  ApproximateValue?: number | undefined;
}

/** What the reports of an index say: the keys that were used most, and those that were throttled most. */
export interface InsightReports {
  readonly accessed: readonly InsightContributor[];
  readonly throttled: readonly InsightContributor[];
}

/** The minutes of a value, as far as they are known. */
export interface ValueMinutes {
  readonly value: string | undefined;
  /** Oldest first. */
  readonly minutes: readonly WriteMinute[];
}

/** The write units that a partition takes in a minute. */
const PARTITION_MINUTE_UNITS = 60_000;

/** A write unit counts three times. Source: the DynamoDB developer guide, "CloudWatch contributor insights: How it works". */
const CONSUMED_OF_WRITE_UNIT = 3;

/** A key that has used this share of what a partition accepts counts as throttled if any key of its index is throttled. */
const SATURATED = 0.95;

/** A throttled key for which no use was counted counts as busy from this many refused attempts a minute on. */
const MANY_REFUSALS = PARTITION_MINUTE_UNITS / 10;

interface SeenKeys {
  readonly consumed: number[];
  readonly refused: number[];
}

/**
 * What the Contributor Insights of a throttled index tell about its values. A report names 25 keys at most, so the shards
 * of a value that it names stand for the other shards of the value. A read of a key counts as a third of a write.
 *
 * If refused attempts were counted for a value, they tell how many writes it wanted. The guide of DynamoDB says that writes
 * that an index refuses are not counted. Then a key that has used all that a partition accepts counts as having wanted half
 * as much again.
 *
 * @param shardsOf the number of shards over which writers spread a value
 */
export function insightMinutes(
  config: ShardedIndexConfig,
  { accessed, throttled }: InsightReports,
  shardsOf: (value: string | undefined) => number,
): ValueMinutes[] {
  const values = new Map<string | undefined, Map<number, SeenKeys>>();
  for (const [list, contributors] of [
    ['consumed', accessed],
    ['refused', throttled],
  ] as const) {
    for (const contributor of contributors) {
      const { Keys: keys, Datapoints: datapoints }: InsightContributor = Object(contributor);
      const named = valueOfKey(config, keys);
      if (named === undefined || !Array.isArray(datapoints)) continue;
      for (const datapoint of datapoints) {
        const { Timestamp: time, ApproximateValue: amount = 0 }: Datapoint = Object(datapoint);
        const start = time instanceof Date ? time.getTime() : Number.NaN;
        const isCounted = Number.isFinite(start) && Number.isFinite(amount) && amount >= 0;
        if (isCounted) seenAt(values, named.value, start)[list].push(amount);
      }
    }
  }
  return [...values].map(([value, seen]) => {
    const minutes = [...seen].flatMap(([start, keys]) => {
      const wanted = wantedOf(keys, shardsOf(value));
      return wanted === undefined ? [] : [{ start, ...wanted }];
    });
    return { value, minutes: minutes.sort((a, b) => a.start - b.start) };
  });
}

/** Undefined for keys that do not belong to this index, as far as the configuration tells. */
function valueOfKey(
  { keyLayout, valueAttribute, separator = SHARD_SEPARATOR, shardPlacement }: ShardedIndexConfig,
  keys: readonly string[] | undefined,
): { value: string | undefined } | undefined {
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) return undefined;
  if (keys.length !== (keyLayout === 'multi-attribute' && valueAttribute !== undefined ? 2 : 1)) return undefined;
  const [first] = keys as [string];
  if (valueAttribute === undefined) return { value: undefined };
  if (keyLayout === 'multi-attribute') return { value: first };
  if (shardPlacement === 'prefix') {
    const begin = first.indexOf(separator) + separator.length;
    return begin > separator.length && begin < first.length ? { value: first.slice(begin) } : undefined;
  }
  const end = first.lastIndexOf(separator);
  return end > 0 ? { value: first.slice(0, end) } : undefined;
}

function seenAt(
  values: Map<string | undefined, Map<number, SeenKeys>>,
  value: string | undefined,
  time: number,
): SeenKeys {
  let minutes = values.get(value);
  if (minutes === undefined) {
    minutes = new Map();
    values.set(value, minutes);
  }
  let seen = minutes.get(time);
  if (seen === undefined) {
    seen = { consumed: [], refused: [] };
    minutes.set(time, seen);
  }
  return seen;
}

function wantedOf({ consumed, refused }: SeenKeys, shards: number): Omit<WriteMinute, 'start'> | undefined {
  const accepted = mean(consumed) / CONSUMED_OF_WRITE_UNIT;
  const refusals = mean(refused);
  if (consumed.length === 0) {
    if (refusals < MANY_REFUSALS) return undefined;
    return wantedWrites({ admitted: shards * PARTITION_MINUTE_UNITS, refused: shards * refusals });
  }
  if (refused.length > 0) return wantedWrites({ admitted: shards * accepted, refused: shards * refusals });
  return accepted < SATURATED * PARTITION_MINUTE_UNITS ? undefined : uncounted(shards * accepted);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
