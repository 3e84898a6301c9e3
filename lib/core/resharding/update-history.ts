/**
 * How often the shard count of one stream can be updated in any 24 hours.
 * Source: the Kinesis API reference, UpdateShardCount: "more than ten times per rolling 24-hour period per stream".
 */
export const DAILY_UPDATES = 10;

/**
 * The tag of a stream that tells when its shard count was updated in the last 24 hours. Kinesis counts, but does not
 * say how far it has counted until it refuses.
 */
export const UPDATE_HISTORY_TAG = 'even-shards:shard-count-updates';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The updates of the last 24 hours that this library made, in milliseconds since 1970, oldest first. */
export function parseUpdateHistory(tagValue: string | undefined, now: number): number[] {
  return (tagValue ?? '')
    .split(' ')
    .map((time) => Date.parse(time))
    .filter((time) => time > now - DAY_MS && time <= now)
    .sort((a, b) => a - b);
}

/** The value of the tag: times to the second, of which ten and more fit into the 256 characters of a tag's value. */
export function formatUpdateHistory(history: readonly number[]): string {
  return history
    .slice(-DAILY_UPDATES)
    .map((time) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z'))
    .join(' ');
}

export function updatesLeft(history: readonly number[]): number {
  return Math.max(0, DAILY_UPDATES - history.length);
}

/** When so many updates are allowed again; `undefined` if they are now, or never within a day. */
export function allowedAgainAt(history: readonly number[], updates: number): Date | undefined {
  const oldest = history[history.length - 1 - (DAILY_UPDATES - updates)];
  return oldest === undefined ? undefined : new Date(oldest + DAY_MS);
}
