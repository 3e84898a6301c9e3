/**
 * How often Kinesis allows an update of the shard count of one stream in any 24 hours.
 * Source: the Kinesis API reference, UpdateShardCount: "more than ten times per rolling 24-hour period per stream".
 */
export const DAILY_UPDATES = 10;

/**
 * The tag in which a stream carries the updates of its shard count in the last 24 hours. Kinesis counts them too, but
 * it does not report their number; it only refuses the update that is too many.
 */
export const UPDATE_HISTORY_TAG = 'even-shards:shard-count-updates';

/** An update that this library has asked for. */
export interface PastUpdate {
  /** The time of the update, in milliseconds since 1970. */
  readonly time: number;
  /** The shard count that the update asked for. */
  readonly shardCount: number;
}

const MINUTE_MS = 60_000;

/** A day and a minute, because the tag stores the time in whole minutes. */
const RETENTION_MS = (24 * 60 + 1) * MINUTE_MS;

const ENTRY = /^(\d{4}-\d\d-\d\dT\d\d:\d\dZ)=(\d{1,5})$/;

/** The updates of the last 24 hours, oldest first. */
export function parseUpdateHistory(tagValue: string | undefined, now: number): PastUpdate[] {
  return (tagValue ?? '')
    .split(' ')
    .flatMap((entry) => {
      const [, time, shardCount] = ENTRY.exec(entry) ?? [];
      return time === undefined ? [] : [{ time: Date.parse(time), shardCount: Number(shardCount) }];
    })
    .filter(({ time }) => time > now - RETENTION_MS && time <= now)
    .sort((a, b) => a.time - b.time);
}

/** The value of the tag: ten entries in whole minutes, which fit into the 256 characters of a tag value. */
export function formatUpdateHistory(history: readonly PastUpdate[]): string {
  return history
    .slice(-DAILY_UPDATES)
    .map(({ time, shardCount }) => `${new Date(time).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length)}Z=${shardCount}`)
    .join(' ');
}

export function updatesLeft(history: readonly PastUpdate[]): number {
  return Math.max(0, DAILY_UPDATES - history.length);
}

/** When so many updates are allowed again. Undefined if they are allowed now, or are never allowed within a day. */
export function allowedAgainAt(history: readonly PastUpdate[], updates: number): Date | undefined {
  const last = history[history.length - 1 - (DAILY_UPDATES - updates)];
  return last === undefined ? undefined : new Date(last.time + RETENTION_MS);
}
