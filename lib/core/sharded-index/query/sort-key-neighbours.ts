import { firstTextBehind } from '../../fan-out/value-range';
import { nextNumber } from '../../kernel/decimal';
import { MAX_SORT_KEY_BYTES, type SortableValue } from './attribute-order';

/** A value that other values can begin with. A number has no prefix. */
export type Prefix = Exclude<SortableValue, { N: string }>;

/**
 * The least value behind another in ascending order: no value of the type lies between them. Behind a text or binary
 * value comes the same with a zero byte appended; behind a number, the next number of 38 digits.
 *
 * @returns undefined if a key cannot hold it
 */
export function successorOf(value: SortableValue): SortableValue | undefined {
  if ('N' in value) return asNumber(nextNumber(value.N, 1));
  if (byteLength(value) >= MAX_SORT_KEY_BYTES) return undefined;
  return 'S' in value ? { S: `${value.S}\0` } : { B: Uint8Array.of(...value.B, 0) };
}

/**
 * The greatest value before another in ascending order.
 *
 * @returns undefined if there is none: between two texts there is always another one, unless the second is the first with a
 *   zero byte appended
 */
export function predecessorOf(value: SortableValue): SortableValue | undefined {
  if ('N' in value) return asNumber(nextNumber(value.N, -1));
  if ('S' in value) return value.S.length > 1 && value.S.endsWith('\0') ? { S: value.S.slice(0, -1) } : undefined;
  return value.B.byteLength > 1 && value.B.at(-1) === 0 ? { B: value.B.subarray(0, -1) } : undefined;
}

const MAX_BYTE = 0xff;

/**
 * The least value behind all values that begin with a prefix.
 *
 * @returns undefined if no value stands behind them
 */
export function firstBehind(prefix: Prefix): Prefix | undefined {
  if ('B' in prefix) {
    const bytes = [...prefix.B];
    while (bytes.at(-1) === MAX_BYTE) bytes.pop();
    const last = bytes.pop();
    return last === undefined ? undefined : { B: Uint8Array.of(...bytes, last + 1) };
  }
  const behind = firstTextBehind(prefix.S);
  return behind === undefined ? undefined : { S: behind };
}

function asNumber(text: string | undefined): SortableValue | undefined {
  return text === undefined ? undefined : { N: text };
}

function byteLength(value: Prefix): number {
  return 'S' in value ? Buffer.byteLength(value.S) : value.B.byteLength;
}
