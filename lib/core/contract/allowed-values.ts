import { checkDifferent, isText } from '../kernel/checks';
import { valueText } from '../sharding/count-of-value';

/** The values that a query function may read. The function rejects requests for other values. */
export type AllowedValues = readonly (string | number)[];

const ALLOWED = 'a non-empty array of different values: non-empty strings, or numbers that JavaScript holds exactly';

/** @throws InvalidArgumentError unless `values` is a valid list of values for a query function */
export function checkAllowedValues(field: string, values: unknown): asserts values is AllowedValues {
  checkDifferent(field, values, ALLOWED, (value) => (isText(value) || isExact(value) ? typedText(value) : undefined));
}

/** A text that identifies a value and its type. The string "1" and the number 1 have different texts. */
export function typedText(value: string | number): string {
  return typeof value === 'number' ? `N${valueText(value)}` : `S${value}`;
}

function isExact(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
