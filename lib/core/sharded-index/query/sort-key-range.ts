import type { Direction, RangeEnd, ValueRange } from '../../fan-out/value-range';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import { firstAfter, type Prefix, predecessorOf, successorOf } from './sort-key-neighbours';

/** A range of the values of one sort key attribute. */
export type SortKeyRange = ValueRange<SortableValue>;

export interface KeyTerm {
  operator: '=' | '<' | '<=' | '>' | '>=' | 'BETWEEN' | 'begins_with';
  operands: SortableValue[];
}

/** The range of the values that begin with a prefix. */
export function prefixRange(prefix: Prefix): SortKeyRange {
  const after = firstAfter(prefix);
  return { lower: { value: prefix, inclusive: true }, ...(after && { upper: { value: after, inclusive: false } }) };
}

export function isEmptyRange({ lower, upper }: SortKeyRange): boolean {
  if (lower === undefined || upper === undefined) return false;
  const [least, most] = [leastOf(lower), mostOf(upper)];
  const difference = compareAttributeValues(least ?? lower.value, most ?? upper.value);
  return difference > 0 || (difference === 0 && (least === undefined || most === undefined));
}

/**
 * Returns the key condition that reads a range. DynamoDB allows one condition for an attribute, and `BETWEEN` includes both
 * ends. If an end is exclusive, the condition names the next or the previous value instead. If a text has no next or previous
 * value, the condition selects more than the range. If `beginEarly` is set, the condition then begins with the excluded value
 * at the beginning of the range. Otherwise the condition has no end. The condition may also include the excluded value at the
 * end of the range.
 *
 * @returns undefined if the range contains every value
 */
export function rangeTerm(range: SortKeyRange, direction: Direction, beginEarly?: boolean): KeyTerm | undefined {
  const { lower, upper } = range;
  if (lower === undefined && upper === undefined) return undefined;
  if (upper === undefined) return { operator: lower!.inclusive ? '>=' : '>', operands: [lower!.value] };
  if (lower === undefined) return { operator: upper.inclusive ? '<=' : '<', operands: [upper.value] };
  // A read that began early can have ended at the first value after the prefix, so the condition must include that
  // value.
  const endsAtPrefix = (direction === 1 || !beginEarly) && isPrefixRange(lower, upper);
  if (endsAtPrefix) return { operator: 'begins_with', operands: [lower.value] };
  const [least, most] = [leastOf(lower), mostOf(upper)];
  if (!beginEarly && (direction === 1 ? least : most) === undefined) {
    return direction === 1 ? { operator: '>', operands: [lower.value] } : { operator: '<', operands: [upper.value] };
  }
  const operands = [least ?? lower.value, most ?? upper.value] as const;
  if (compareAttributeValues(...operands) === 0) return { operator: '=', operands: [operands[0]] };
  return { operator: 'BETWEEN', operands: [...operands] };
}

/**
 * Returns the condition of a read that continues after a start key. If the start key has the last value of the
 * condition, only this value remains to be read, and the condition becomes `=` this value. DynamoDB was observed to
 * reject a start key that equals an inclusive bound in the direction of the query.
 */
export function termAfter(term: KeyTerm | undefined, start: SortableValue, direction: Direction): KeyTerm | undefined {
  if (term === undefined) return undefined;
  const { operator, operands } = term;
  const inclusive = operator === 'BETWEEN' || operator === (direction === 1 ? '<=' : '>=');
  if (!inclusive) return term;
  const last = direction === 1 ? operands.at(-1)! : operands[0]!;
  return compareAttributeValues(start, last) === 0 ? { operator: '=', operands: [last] } : term;
}

/** The smallest value of a range with this lower end. Undefined if the end is exclusive and has no next value. */
function leastOf({ value, inclusive }: RangeEnd<SortableValue>): SortableValue | undefined {
  return inclusive ? value : successorOf(value);
}

function mostOf({ value, inclusive }: RangeEnd<SortableValue>): SortableValue | undefined {
  return inclusive ? value : predecessorOf(value);
}

function isPrefixRange(lower: RangeEnd<SortableValue>, upper: RangeEnd<SortableValue>): boolean {
  if ('N' in lower.value || !lower.inclusive || upper.inclusive) return false;
  const after = firstAfter(lower.value);
  return after !== undefined && compareAttributeValues(after, upper.value) === 0;
}
