import { firstTextAfter } from '../../fan-out/value-range';
import { nextNumber } from '../../kernel/decimal';
import { MAX_KEY_BYTES } from '../config/check-attribute-value';
import type { SortableValue } from './attribute-order';

/** A value that can be a prefix: a text or binary, but not a number. */
export type Prefix = Exclude<SortableValue, { N: string }>;

/**
 * Returns the next value in ascending order. No value of the type lies between the two values. The next text or binary
 * value is the same value with a zero byte appended. The next number is the next number of 38 digits.
 *
 * @returns undefined if the value would be too long or too large for a key
 */
export function successorOf(value: SortableValue): SortableValue | undefined {
  if ('N' in value) return asNumber(nextNumber(value.N, 1));
  if (byteLength(value) >= MAX_KEY_BYTES.sort) return undefined;
  return 'S' in value ? { S: `${value.S}\0` } : { B: Uint8Array.of(...value.B, 0) };
}

/**
 * Returns the previous value in ascending order.
 *
 * @returns undefined if the value has no previous value. A text has a previous text only if it ends with a zero byte
 */
export function predecessorOf(value: SortableValue): SortableValue | undefined {
  if ('N' in value) return asNumber(nextNumber(value.N, -1));
  if ('S' in value) return value.S.length > 1 && value.S.endsWith('\0') ? { S: value.S.slice(0, -1) } : undefined;
  return value.B.byteLength > 1 && value.B.at(-1) === 0 ? { B: value.B.subarray(0, -1) } : undefined;
}

const MAX_BYTE = 0xff;

/**
 * Returns the first value after all values that begin with a prefix.
 *
 * @returns undefined if no value comes after these values
 */
export function firstAfter(prefix: Prefix): Prefix | undefined {
  if ('B' in prefix) {
    const bytes = [...prefix.B];
    while (bytes.at(-1) === MAX_BYTE) bytes.pop();
    const last = bytes.pop();
    return last === undefined ? undefined : { B: Uint8Array.of(...bytes, last + 1) };
  }
  const after = firstTextAfter(prefix.S);
  return after === undefined ? undefined : { S: after };
}

function asNumber(text: string | undefined): SortableValue | undefined {
  return text === undefined ? undefined : { N: text };
}

function byteLength(value: Prefix): number {
  return 'S' in value ? Buffer.byteLength(value.S) : value.B.byteLength;
}
