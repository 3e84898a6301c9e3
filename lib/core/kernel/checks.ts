import { InvalidArgumentError } from './errors';

/** @throws InvalidArgumentError unless `value` is a finite number above 0, and at most `max` */
export function checkPositive(field: string, value: unknown, max = Infinity): void {
  if (isFiniteNumber(value) && value > 0 && value <= max) return;
  throw new InvalidArgumentError(field, value, `a number above 0${max === Infinity ? '' : ` and at most ${max}`}`);
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

/** @throws InvalidArgumentError unless `value` is a whole number from `min` to `max`, both included */
export function checkWhole(field: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!isWhole(value, min, max)) throw new InvalidArgumentError(field, value, wholeNumber(min, max));
}

/**
 * Checks an option whose largest value is another option, such as `{ attempts: 3 }` and `{ maxTries: 2 }`. Check each option alone
 * first.
 *
 * @throws InvalidArgumentError, which names both options, if the first number is above the second number
 */
export function checkAtMost(option: Record<string, number>, bound: Record<string, number>): void {
  const [[field, value], [name, max]] = [Object.entries(option)[0]!, Object.entries(bound)[0]!];
  if (value > max) throw new InvalidArgumentError(field, value, `at most ${name}, which is ${max}`);
}

/** Whether `value` is an integer that JavaScript holds exactly, from `min` to `max`, both included. */
export function isWhole(value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): value is number {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** The text for the whole numbers from `min` to `max` in an error message. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): string {
  return max === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
}

/** @throws InvalidArgumentError unless `value` is an object with fields */
export function checkFields(field: string, value: unknown): void {
  if (!isObject(value)) throw new InvalidArgumentError(field, value, 'an object');
}

/** @throws InvalidArgumentError unless `signal` is absent or an `AbortSignal`, of any realm */
export function checkSignal(signal: unknown): void {
  if (signal === undefined) return;
  const { aborted, addEventListener }: Partial<AbortSignal> = Object(signal);
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return;
  throw new InvalidArgumentError('signal', signal, 'an AbortSignal or absent');
}

/**
 * @param keyOf returns a text that identifies an element, or undefined if the element is not allowed
 * @throws InvalidArgumentError unless `values` is a non-empty array of allowed elements with different keys
 */
export function checkDifferent(
  field: string,
  values: unknown,
  allowed: string,
  keyOf: (value: unknown) => string | undefined,
): void {
  if (!Array.isArray(values) || values.length === 0) throw new InvalidArgumentError(field, values, allowed);
  const keys = new Set<string>();
  for (const [index, value] of values.entries()) {
    const key = keyOf(value);
    if (key === undefined || keys.has(key)) throw new InvalidArgumentError(`${field}[${index}]`, value, allowed);
    keys.add(key);
  }
}

/** Whether `value` is a string that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Whether `value` has fields: it is an object or an array, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether `value` has named fields: it is an object, not an array, and not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
