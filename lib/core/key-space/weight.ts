import { InvalidWeightError } from '../errors';

/** Throws `InvalidWeightError` unless `weight` is a number above 0, and small enough to be added up without harm. */
export function checkWeight(field: string, weight: unknown): void {
  if (typeof weight === 'number' && weight > 0 && weight <= Number.MAX_SAFE_INTEGER) return;
  throw new InvalidWeightError(field, weight, 'a number greater than 0 and at most 2^53 - 1');
}
