/** Of one invocation: so little that a slow machine is done in a small part of a function's time, and enough to be quick. */
const TARGET_MS = 2_000;

export const FIRST_SIZE = 100;
const MAX_SIZE = 1_000;

/**
 * How many records the next invocation gets, by how long the last took, whatever the machine does meanwhile: a function that
 * is ended by its timeout leaves nobody to know what it has written.
 */
export function nextSize(size: number, elapsedMs: number): number {
  const wanted = (size * TARGET_MS) / Math.max(1, elapsedMs);
  return Math.max(1, Math.min(Math.floor(wanted), 2 * size, MAX_SIZE));
}
