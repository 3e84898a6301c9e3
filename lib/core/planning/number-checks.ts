import { InvalidArgumentError } from '../kernel/errors';

/** @throws InvalidArgumentError unless `value` is a finite number above 0 */
export function checkPositive(field: string, value: unknown): void {
  if (!(isFiniteNumber(value) && value > 0)) throw new InvalidArgumentError(field, value, 'a number above 0');
}

/** @throws InvalidArgumentError unless `value` is a finite number of at least 0 */
export function checkNotNegative(field: string, value: unknown): void {
  if (!(isFiniteNumber(value) && value >= 0)) throw new InvalidArgumentError(field, value, 'a number of at least 0');
}

/** @throws InvalidArgumentError unless `value` is a number from `min` to `max`, both included */
export function checkBetween(field: string, value: unknown, min: number, max: number): void {
  if (!(isFiniteNumber(value) && value >= min && value <= max)) {
    throw new InvalidArgumentError(field, value, `a number from ${min} to ${max}`);
  }
}

/** @throws InvalidArgumentError unless `value` is a whole number from `min` to `max` */
export function checkWhole(field: string, value: unknown, min: number, max: number): void {
  if (!(Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) {
    throw new InvalidArgumentError(field, value, `a whole number from ${min} to ${max}`);
  }
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** @throws InvalidArgumentError unless `value` is an object with fields */
export function checkFields(field: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw new InvalidArgumentError(field, value, 'an object');
}
