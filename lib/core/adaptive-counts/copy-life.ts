/**
 * How old a copy of counts may become, in milliseconds: a reader that begins a page with an older one could overlook items.
 * It is part of the contract between readers, writers and whoever raises counts, and no option: whoever raises a count
 * must know it of processes that were deployed at any other time.
 */
export const COPY_LIFE_MS = 30_000;

/** From this age on, a copy is replaced while it is used. So the table of counts may be down for the rest of its life. */
export const REFRESH_AFTER_MS = 10_000;

/**
 * How long whoever changes a count watches a version before every copy of an earlier one counts as gone. It is half as much
 * again as a copy lives, so that the clocks of two processes may run at rates as different as 3 to 2.
 */
export const OUTLIVED_AFTER_MS = 45_000;
