/**
 * How long one invocation should take: so short that a slow machine needs a small part of a function's timeout, and long
 * enough to be fast.
 */
const TARGET_MS = 2_000;

export const FIRST_SIZE = 100;
const MAX_SIZE = 1_000;

/**
 * How many records the next invocation gets, from how long the last one took. It adapts to a machine that becomes slower,
 * because after a timeout nobody knows what the function has written.
 */
export function nextSize(size: number, elapsedMs: number): number {
  const wanted = (size * TARGET_MS) / Math.max(1, elapsedMs);
  return Math.max(1, Math.min(Math.floor(wanted), 2 * size, MAX_SIZE));
}
