import type { ShardedIndexConfig } from '../sharded-index';
import { SHARD_SEPARATOR } from '../sharding/shard-format';
import type { WriteMinute } from './next-shard-count';
import { requestedWrites, uncounted } from './requested-writes';

/** A key in a report of Contributor Insights, in the AWS SDK's terms. */
export interface InsightContributor {
  Keys?: string[] | undefined;
  Datapoints?: Datapoint[] | undefined;
}

interface Datapoint {
  Timestamp?: Date | undefined;
  ApproximateValue?: number | undefined;
}

/** The Contributor Insights reports of an index: the most accessed keys and the most throttled keys. */
export interface InsightReports {
  readonly accessed: readonly InsightContributor[];
  readonly throttled: readonly InsightContributor[];
}

/** A value, and the minutes for which a source has data about this value. */
export interface ValueMinutes {
  readonly value: string | undefined;
  /** The minutes, oldest first. */
  readonly minutes: readonly WriteMinute[];
}

/** The maximum number of write units that a partition accepts per minute. */
const PARTITION_MINUTE_UNITS = 60_000;

/**
 * Contributor Insights counts a write unit as three consumed units. Source: the DynamoDB developer guide, "CloudWatch
 * contributor insights: How it works".
 */
const CONSUMED_OF_WRITE_UNIT = 3;

/**
 * A key that has consumed this share of the limit of a partition counts as throttled if any key of its index is
 * throttled.
 */
const SATURATED = 0.95;

/** A throttled key whose accesses were not counted is busy if it has at least this number of throttled attempts per minute. */
const MANY_THROTTLES = PARTITION_MINUTE_UNITS / 10;

interface KeyCounts {
  readonly consumed: number[];
  readonly refused: number[];
}

/**
 * Computes the writes of each value of a throttled index from reports of Contributor Insights. A report has at most 25 keys. So
 * the function computes the writes to all shards of a value from the shards in the report. A read of a key counts as a third of
 * a write.
 *
 * If Contributor Insights has counted throttled attempts of a value, the function computes the requested writes from these
 * attempts. According to the DynamoDB developer guide, Contributor Insights does not count throttled writes of an index.
 * Without such a count, a key that has consumed the limit of a partition is assumed to have requested 1.5 times its accepted
 * writes.
 *
 * @param shardsOf returns the number of shards that writers use for a value
 */
export function insightMinutes(
  config: ShardedIndexConfig,
  { accessed, throttled }: InsightReports,
  shardsOf: (value: string | undefined) => number,
): ValueMinutes[] {
  const values = new Map<string | undefined, Map<number, KeyCounts>>();
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
        if (isCounted) countsAt(values, named.value, start)[list].push(amount);
      }
    }
  }
  return [...values].map(([value, seen]) => {
    const minutes = [...seen].flatMap(([start, keys]) => {
      const requested = requestedOf(keys, shardsOf(value));
      return requested === undefined ? [] : [{ start, ...requested }];
    });
    return { value, minutes: minutes.sort((a, b) => a.start - b.start) };
  });
}

/** The value in the index keys of a contributor. Undefined if these are not keys of an index with this configuration. */
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

function countsAt(
  values: Map<string | undefined, Map<number, KeyCounts>>,
  value: string | undefined,
  time: number,
): KeyCounts {
  let minutes = values.get(value);
  if (minutes === undefined) {
    minutes = new Map();
    values.set(value, minutes);
  }
  let counts = minutes.get(time);
  if (counts === undefined) {
    counts = { consumed: [], refused: [] };
    minutes.set(time, counts);
  }
  return counts;
}

function requestedOf({ consumed, refused }: KeyCounts, shards: number): Omit<WriteMinute, 'start'> | undefined {
  const accepted = mean(consumed) / CONSUMED_OF_WRITE_UNIT;
  const throttles = mean(refused);
  if (consumed.length === 0) {
    if (throttles < MANY_THROTTLES) return undefined;
    return requestedWrites({ admitted: shards * PARTITION_MINUTE_UNITS, refused: shards * throttles });
  }
  if (refused.length > 0) return requestedWrites({ admitted: shards * accepted, refused: shards * throttles });
  return accepted < SATURATED * PARTITION_MINUTE_UNITS ? undefined : uncounted(shards * accepted);
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
}
