import type { AttributeValue } from '../../aws-client/attribute-value';
import { compareNumbers } from '../../kernel/decimal';
import { EvenShardsError } from '../../kernel/errors';

/** An attribute value that DynamoDB can sort by. */
export type SortableValue = { S: string } | { N: string } | { B: Uint8Array };

/**
 * Compares two values of a sort key as DynamoDB does: strings by their UTF-8 bytes, numbers by value with all 38
 * digits, and binary by unsigned bytes. Returns a negative number, zero or a positive number.
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

/** Numbers of up to 15 digits keep their order as doubles, and comparing doubles is ten times as fast. */
const DOUBLE_DIGITS = 15;

function isShort(number: string): boolean {
  return number.length <= DOUBLE_DIGITS;
}

/**
 * Compares by code points, which gives the same order as comparing UTF-8 bytes. The operator `<` compares UTF-16 units
 * instead: it sorts code points from U+10000, which are surrogates, before U+E000 to U+FFFF.
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
