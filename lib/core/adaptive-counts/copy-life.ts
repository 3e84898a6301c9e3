/**
 * How old a copy of counts may become, in milliseconds. A reader that begins a page with an older copy could overlook
 * items. This is no option but part of the contract between readers, writers and whoever increases counts: whoever increases a
 * count must know it of processes that were deployed at any other time.
 */
export const COPY_LIFE_MS = 30_000;

/**
 * From this age on, a copy is replaced while it is used. So the table of counts may be unavailable for the rest of the
 * copy's life.
 */
export const REFRESH_AFTER_MS = 10_000;

/**
 * Whoever changes a count waits this long after a version was written until every copy of an earlier version counts as
 * gone. The time is one and a half times the life of a copy, so one clock may even run 1.5 times as fast as another.
 */
export const OUTLIVED_AFTER_MS = 45_000;
