import { checkTextFormat } from '../kernel/format-version';
import { parseTagTime, tagMinute } from './stream-tags';

/**
 * How many updates of the shard count Kinesis allows for a stream in any 24 hours. Source: the Kinesis API reference,
 * UpdateShardCount: "more than ten times per rolling 24-hour period per stream".
 */
export const DAILY_UPDATES = 10;

/**
 * The name of the tag that lists the updates of a stream's shard count in the last 24 hours. Kinesis does not report its own
 * count of the updates; it only rejects an update above the limit.
 */
export const UPDATE_HISTORY_TAG = 'even-shards/shard-count-updates';

/** An update that this library has requested, or a rejection. */
export interface PastUpdate {
  /** The time of the update, in milliseconds since 1970. */
  readonly time: number;
  /** The requested shard count; `REFUSED` if Kinesis rejected the update because the updates of the day were used up. */
  readonly shardCount: number;
}

/** The history contains this number instead of the shard count of a rejected update. */
export const REFUSED = 0;

const MINUTE_MS = 60_000;

/** How long the history keeps an update: a day and a minute, because the tag stores the time in whole minutes. */
const RETENTION_MS = (24 * 60 + 1) * MINUTE_MS;

/**
 * How long the library requests no update after a rejection. Other programs have made updates at unknown times, so a new update
 * may be allowed at any time within a day.
 */
const REFUSAL_MS = 60 * MINUTE_MS;

const ENTRY = /^(\d{4}-\d\d-\d\dT\d{4}Z)=(\d{1,5})$/;

/**
 * The updates of the last 24 hours and the rejections of the last hour, oldest first.
 *
 * @throws NewerFormatError if a later release wrote the tag in a format that this release cannot read
 */
export function parseUpdateHistory(tagValue: string | undefined, now: number): PastUpdate[] {
  checkTextFormat('update history', tagValue);
  return (tagValue ?? '')
    .split(' ')
    .flatMap((entry) => {
      const [, time, shardCount] = ENTRY.exec(entry) ?? [];
      return time === undefined ? [] : [{ time: parseTagTime(time), shardCount: Number(shardCount) }];
    })
    .filter(({ time, shardCount }) => time > now - (shardCount === REFUSED ? REFUSAL_MS : RETENTION_MS) && time <= now)
    .sort((a, b) => a.time - b.time);
}

/**
 * The value of the tag: up to ten entries, with times in whole minutes. These entries fit into the 256 characters of a tag
 * value.
 */
export function formatUpdateHistory(history: readonly PastUpdate[]): string {
  return history
    .slice(-DAILY_UPDATES)
    .map(({ time, shardCount }) => `${tagMinute(time)}=${shardCount}`)
    .join(' ');
}

/** How many more updates Kinesis allows; 0 for an hour after a rejection. */
export function updatesLeft(history: readonly PastUpdate[]): number {
  const isRefused = history.some(({ shardCount }) => shardCount === REFUSED);
  return isRefused ? 0 : Math.max(0, DAILY_UPDATES - history.length);
}

export function updatesMade(history: readonly PastUpdate[]): PastUpdate[] {
  return history.filter(({ shardCount }) => shardCount !== REFUSED);
}

/**
 * The time when `updates` more updates are allowed. `undefined` if the updates are allowed now, or if the time is not known
 * because other programs have made updates.
 */
export function allowedAgainAt(history: readonly PastUpdate[], updates: number): Date | undefined {
  if (history.some(({ shardCount }) => shardCount === REFUSED)) return undefined;
  const last = history[history.length - 1 - (DAILY_UPDATES - updates)];
  return last === undefined ? undefined : new Date(last.time + RETENTION_MS);
}
