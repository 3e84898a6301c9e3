import { InvalidWeightError } from './registry-errors';

const LEAST_WEIGHT = 1e-9;

/** Throws `InvalidWeightError` unless `weight` is above 0, and neither too small nor too large to be added up and stored. */
export function checkWeight(field: string, weight: unknown): void {
  if (typeof weight === 'number' && weight >= LEAST_WEIGHT && weight <= Number.MAX_SAFE_INTEGER) return;
  throw new InvalidWeightError(field, weight, `a number greater than 0, from ${LEAST_WEIGHT} to 2^53 - 1`);
}
