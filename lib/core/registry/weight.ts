import { InvalidWeightError } from './registry-errors';

const MIN_WEIGHT = 1e-9;

/** @throws InvalidWeightError unless `weight` is a number from 1e-9 to 2^53 - 1 */
export function checkWeight(field: string, weight: unknown): void {
  if (typeof weight === 'number' && weight >= MIN_WEIGHT && weight <= Number.MAX_SAFE_INTEGER) return;
  throw new InvalidWeightError(field, weight, `a number from ${MIN_WEIGHT} to 2^53 - 1`);
}
