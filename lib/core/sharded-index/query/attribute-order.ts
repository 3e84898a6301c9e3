import type { AttributeValue } from '../../aws-client/attribute-value';
import { compareNumbers } from '../../kernel/decimal';
import { EvenShardsError } from '../../kernel/errors';

/** An attribute value that DynamoDB can sort by. */
export type SortableValue = { S: string } | { N: string } | { B: Uint8Array };

/** The most bytes of a sort key attribute. Source: the DynamoDB developer guide, "Quotas". */
export const MAX_SORT_KEY_BYTES = 1_024;

/**
 * Compares two values of one sort key as DynamoDB does: strings by their UTF-8 bytes, numbers by value with all 38
 * digits, and binary by unsigned bytes. Returns a negative number, zero or a positive number, as every comparator does.
 */
export function compareAttributeValues(a: AttributeValue, b: AttributeValue): number {
  if ('S' in a && 'S' in b) return compareUtf8(a.S, b.S);
  if ('N' in a && 'N' in b) return isShort(a.N) && isShort(b.N) ? Number(a.N) - Number(b.N) : compareNumbers(a.N, b.N);
  if ('B' in a && 'B' in b) return Buffer.compare(a.B, b.B);
  throw new EvenShardsError(
    'INCOMPARABLE_SORT_KEYS',
    `the sort keys of an index must be of one type, S, N or B, got ${Object.keys(a)} and ${Object.keys(b)}`,
  );
}

/** Doubles keep the order of all decimals of up to 15 digits, and the comparison is ten times as fast. */
const DOUBLE_DIGITS = 15;

function isShort(number: string): boolean {
  return number.length <= DOUBLE_DIGITS;
}

/**
 * UTF-8 bytes sort like code points. The operator `<` compares UTF-16 units, which differ in one case: there,
 * surrogates (code points from U+10000) come before U+E000 to U+FFFF, and here they come after.
 */
function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
