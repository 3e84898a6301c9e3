/** What is known of the writes of one value in one minute, in write units. Together they are what writers wanted to write. */
export interface WriteMinute {
  /** When the minute began, in milliseconds since 1970. */
  readonly start: number;
  /** Writes that DynamoDB accepted at the first attempt. */
  readonly admitted: number;
  /** Writes that were refused at least once, whether or not a later attempt succeeded. */
  readonly throttled: number;
}

export interface ValueSituation {
  /** The number of shards over which writers spread the value. */
  readonly shards: number;
  /** The most shards that a value may have. */
  readonly maximum: number;
  /** The minutes that are over, oldest first. A minute that is missing had no throttled write, as far as anybody knows. */
  readonly minutes: readonly WriteMinute[];
  /** Since when every writer has known the present count, in milliseconds since 1970. Absent if they always have. */
  readonly since?: number | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
}

/** Whether to increase the count of a value, or why not. */
type CountDecision = 'increase' | 'calm' | 'too early' | 'enough shards' | 'at maximum';

export interface NextShardCount {
  readonly decision: CountDecision;
  /**
   * The number of shards over which writers should spread the value: more than now if the decision is `increase`, otherwise as
   * many.
   */
  readonly shards: number;
  /** How many shards the writes of the value need, not rounded, as far as the minutes tell. */
  readonly needed: number;
  /** Why, in words. */
  readonly reason: string;
}

/**
 * The write units a second that one shard accepts. Source: the DynamoDB developer guide, "Best practices for designing and
 * using partition keys effectively".
 */
const SHARD_WRITE_UNITS = 1_000;

/** How busy shards are to be on average. The fifth that is left is for uneven seconds. */
export const TARGET_UTILISATION = 0.8;

/**
 * A minute counts as throttled from this share of throttled writes on. Below it is the throttling that is left when a count
 * is right.
 */
const THROTTLED_SHARE = 0.001;

/** The least factor by which a count grows. With a smaller one, it would take many steps of minutes each. */
export const LEAST_GROWTH = 1.5;

/**
 * A count stays below this many times what the writes of the value need. So a page costs at most this many times as much,
 * and throttling that more shards do not end cannot make a count grow for ever.
 */
export const MOST_OF_NEED = 2;

/**
 * How long DynamoDB may take to split a partition that several busy shards share, in minutes. Its guide says that
 * throttling then ends by itself "after a short period", but not how long that is. Source: the DynamoDB developer guide,
 * "Key range throughput exceeded (hot partitions)".
 */
const SPLIT_MINUTES = 10;

/** Metrics arrive one to three minutes late. A minute that is older than this says nothing about the present. */
const FRESH_MS = 5 * 60_000;

const MINUTE_MS = 60_000;

/**
 * The number of shards over which a value should be spread, judged by the minutes in which its writes were throttled.
 *
 * A count is increased if two minutes in a row were throttled, the newer of which is still fresh: as high as the writes that
 * were wanted in them need, but at least by half. If the shards are enough for these writes, their partitions are hot
 * because others live there too. DynamoDB splits such partitions itself, so a count is increased further only if it has not
 * done so in ten minutes. Every count stays below twice the need and within the maximum, and none ever falls.
 */
export function nextShardCount(situation: ValueSituation): NextShardCount {
  const { shards, maximum } = situation;
  const run = throttledRun(situation);
  const needed = neededShards(run.slice(-2));
  const most = Math.ceil(MOST_OF_NEED * needed) - 1;
  const next = Math.min(Math.max(Math.ceil(needed), Math.ceil(LEAST_GROWTH * shards)), most, maximum);
  const stay = (decision: CountDecision, reason: string): NextShardCount => ({ decision, shards, needed, reason });
  const seen = `${describe(run.slice(-2))}, which needs ${rounded(needed)} shards`;
  if (run.length === 0) return stay('calm', 'no fresh minute with throttled writes');
  if (run.length === 1) return stay('too early', `only one minute with throttled writes: ${seen}`);
  if (most <= shards) {
    return stay('enough shards', `${seen}: something else than its count throttles it, such as one hot item`);
  }
  if (next <= shards) return stay('at maximum', `${seen}, but a value may have ${maximum} at most`);
  if (shards >= needed && run.length < SPLIT_MINUTES) {
    return stay('too early', `${seen}: DynamoDB has ${SPLIT_MINUTES} minutes to split the partitions that they share`);
  }
  return { decision: 'increase', shards: next, needed, reason: seen };
}

/** The latest throttled minutes in a row, all of them under the present count. Empty if the newest one is not fresh. */
function throttledRun({ minutes, since = Number.NEGATIVE_INFINITY, now }: ValueSituation): readonly WriteMinute[] {
  const newest = minutes.at(-1);
  if (newest === undefined || newest.start + MINUTE_MS < now - FRESH_MS) return [];
  let from = minutes.length;
  while (from > 0) {
    const minute = minutes[from - 1]!;
    const isNext = from === minutes.length || minute.start === minutes[from]!.start - MINUTE_MS;
    if (!isNext || minute.start < since || !isThrottled(minute)) break;
    from -= 1;
  }
  return minutes.slice(from);
}

function isThrottled({ admitted, throttled }: WriteMinute): boolean {
  return throttled > THROTTLED_SHARE * (admitted + throttled);
}

/** The number of shards that the busiest of the minutes needs. */
function neededShards(minutes: readonly WriteMinute[]): number {
  const wanted = Math.max(0, ...minutes.map(({ admitted, throttled }) => admitted + throttled));
  return wanted / 60 / (SHARD_WRITE_UNITS * TARGET_UTILISATION);
}

function describe(minutes: readonly WriteMinute[]): string {
  const each = minutes.map(({ start, admitted, throttled }) => {
    const share = (100 * throttled) / (admitted + throttled);
    return `${rounded((admitted + throttled) / 60)} write units a second at ${timeOf(start)}, ${rounded(share)} % throttled`;
  });
  return each.join(', ');
}

function timeOf(start: number): string {
  return new Date(start).toISOString().slice(11, 16);
}

function rounded(number: number): number {
  return Number(number.toPrecision(3));
}
