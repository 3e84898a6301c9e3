/**
 * This tolerance is much larger than the rounding error of a few operations on doubles, and much smaller than any relevant
 * difference.
 */
const TOLERANCE = 1e-9;

/** `Math.ceil` that ignores a rounding error: 1.1 * 10 / 1.1 gives 10, not 11. */
export function ceilOf(value: number): number {
  return Math.ceil(value - toleranceAt(value));
}

/** Whether a value is above a limit by more than a rounding error: 700 * 0.001 is not above 0.7. */
export function isAbove(value: number, limit: number): boolean {
  return value - limit > toleranceAt(limit);
}

/** `Math.floor` that ignores a rounding error: 1.15 * 100 gives 115, not 114. */
export function floorOf(value: number): number {
  return Math.floor(value + toleranceAt(value));
}

function toleranceAt(value: number): number {
  return TOLERANCE * Math.max(1, Math.abs(value));
}
