/**
 * The maximum age of cached counts, in milliseconds. With older counts, a reader could miss items. This age is a constant and
 * not an option. A process that increases a count relies on the same maximum age in all readers and writers, even if an earlier
 * deployment started them.
 */
export const MAX_COUNT_AGE_MS = 30_000;

/**
 * From this age on, cached counts are refreshed in the background. So if the table of counts becomes unavailable, the cached
 * counts stay usable for at least 20 seconds.
 */
export const REFRESH_AFTER_MS = 10_000;

/**
 * How long a process waits after it has written a version of a count, in milliseconds. After this wait, all caches of earlier
 * versions have expired. The wait is 1.5 times the maximum age, so the wait is long enough even if one clock runs 1.5 times as
 * fast as another.
 */
export const EARLIER_COUNTS_EXPIRE_AFTER_MS = 45_000;
