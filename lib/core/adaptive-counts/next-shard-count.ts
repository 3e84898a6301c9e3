/**
 * The requested writes of one value in one minute, in write units. The number of requested writes is `admitted` plus
 * `throttled`.
 */
export interface WriteMinute {
  /** The beginning of the minute, in milliseconds since 1970. */
  readonly start: number;
  /** The writes that DynamoDB accepted at the first attempt. */
  readonly admitted: number;
  /** The writes that were throttled at least once, even if a later attempt succeeded. */
  readonly throttled: number;
}

export interface ValueSituation {
  /** The number of shards that writers use for the value. */
  readonly shards: number;
  /** The maximum number of shards of the value. */
  readonly maximum: number;
  /** The completed minutes, oldest first. A missing minute has no known throttled writes. */
  readonly minutes: readonly WriteMinute[];
  /**
   * The time from which all writers use the current count, in milliseconds since 1970. Absent if the count has never
   * changed.
   */
  readonly since?: number | undefined;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** `increase`, or the reason not to increase the count. */
type CountDecision = 'increase' | 'calm' | 'too early' | 'enough shards' | 'at maximum';

export interface NextShardCount {
  readonly decision: CountDecision;
  /**
   * The number of shards that writers should use for the value. This number equals the current number unless the decision is
   * `increase`.
   */
  readonly shards: number;
  /** The number of shards that the requested writes need, not rounded. */
  readonly needed: number;
  /** The reason, as a text for operators. */
  readonly reason: string;
}

/**
 * The maximum number of write units per second that one shard accepts. Source: the DynamoDB developer guide, "Best practices
 * for designing and using partition keys effectively".
 */
const SHARD_WRITE_UNITS = 1_000;

/** The target utilization of shards. The remaining 20 % is head-room for seconds with more writes than the average second. */
export const TARGET_UTILISATION = 0.8;

/**
 * A minute counts as throttled if more than this share of its writes was throttled. DynamoDB can throttle a smaller share even
 * if the count is sufficient.
 */
const THROTTLED_SHARE = 0.001;

/**
 * The smallest factor of an increase. With a smaller factor, a count would need many increases, and each increase takes
 * minutes.
 */
export const LEAST_GROWTH = 1.5;

/**
 * A new count is below this multiple of the number of shards that the writes need. This limit bounds the cost of a page, and
 * stops the growth of a count if more shards do not end the throttling.
 */
export const MAX_OF_NEED = 2;

/**
 * The time for DynamoDB to split a partition that several busy shards share, in minutes. The guide says only that
 * throttling ends "after a short period", without a number. Source: the DynamoDB developer guide, "Key range throughput
 * exceeded (hot partitions)".
 */
const SPLIT_MINUTES = 10;

/**
 * If the newest minute ended longer ago than this time, all minutes are ignored. The time is long enough for metrics, which
 * arrive one to three minutes late.
 */
const FRESH_MS = 5 * 60_000;

const MINUTE_MS = 60_000;

/**
 * Decides whether to increase the shard count of a value, from the minutes in which its writes were throttled.
 *
 * The count is increased after two consecutive throttled minutes, if the newer minute is recent. The new count is the need: the
 * number of shards that the writes of these minutes need. The new count is at least 1.5 times the current count.
 *
 * If writes are throttled although the current count meets the need, the shards probably share partitions with other busy
 * shards. DynamoDB splits such partitions itself, so the count is increased only if the throttling continues for ten minutes.
 *
 * Every new count is less than twice the need, and at most the maximum. A count is never decreased.
 */
export function nextShardCount(situation: ValueSituation): NextShardCount {
  const { shards, maximum } = situation;
  const run = throttledRun(situation);
  const needed = neededShards(run.slice(-2));
  const most = Math.ceil(MAX_OF_NEED * needed) - 1;
  const next = Math.min(Math.max(Math.ceil(needed), Math.ceil(LEAST_GROWTH * shards)), most, maximum);
  const stay = (decision: CountDecision, reason: string): NextShardCount => ({ decision, shards, needed, reason });
  const summary = `${describe(run.slice(-2))}, which needs ${rounded(needed)} shards`;
  if (run.length === 0) return stay('calm', 'no recent minute with throttled writes');
  if (run.length === 1) return stay('too early', `only one minute with throttled writes: ${summary}`);
  if (most <= shards) {
    return stay(
      'enough shards',
      `${summary}: the count is not the cause of the throttling; the cause can be one hot item`,
    );
  }
  if (next <= shards) return stay('at maximum', `${summary}, but the maximum is ${maximum}`);
  if (shards >= needed && run.length < SPLIT_MINUTES) {
    return stay('too early', `${summary}: DynamoDB has ${SPLIT_MINUTES} minutes to split the shared partitions`);
  }
  return { decision: 'increase', shards: next, needed, reason: summary };
}

/**
 * The latest consecutive throttled minutes in which all writers used the current count. Empty if the newest minute is too old.
 */
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

function neededShards(minutes: readonly WriteMinute[]): number {
  const requested = Math.max(0, ...minutes.map(({ admitted, throttled }) => admitted + throttled));
  return requested / 60 / (SHARD_WRITE_UNITS * TARGET_UTILISATION);
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
