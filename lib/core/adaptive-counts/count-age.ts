/**
 * The maximum age of cached counts, in milliseconds. With older counts, a reader could miss items. It is a constant
 * instead of an option, because a process that increases a count relies on it for all readers and writers, whenever
 * they were deployed.
 */
export const MAX_COUNT_AGE_MS = 30_000;

/**
 * From this age on, cached counts are refreshed in the background. So the table of counts may be unavailable until the
 * cached counts reach their maximum age.
 */
export const REFRESH_AFTER_MS = 10_000;

/**
 * The wait after writing a version until all caches of earlier versions have expired, in milliseconds. It is 1.5 times
 * the maximum age, so it is safe even if one clock runs 1.5 times as fast as another.
 */
export const EARLIER_COUNTS_EXPIRE_AFTER_MS = 45_000;
