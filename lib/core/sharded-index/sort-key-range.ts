import { compareAttributeValues, type SortableValue } from './attribute-order';
import { type SortKeyCondition, type SortKeyValue, toAttributeValue } from './fan-out-request';

/** A sort-key condition with its operands as DynamoDB writes them. */
export interface SortKeyRange {
  kind: 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'between' | 'beginsWith';
  operands: SortableValue[];
}

export function sortKeyRange(condition: SortKeyCondition | undefined): SortKeyRange | undefined {
  if (condition === undefined) return undefined;
  const [kind, operand] = Object.entries(condition)[0] as [SortKeyRange['kind'], SortKeyValue | SortKeyValue[]];
  return { kind, operands: (Array.isArray(operand) ? operand : [operand]).map(toAttributeValue) };
}

/** Whether a sort key lies in the range. */
export function isInRange(value: SortableValue, { kind, operands }: SortKeyRange): boolean {
  const [operand, upper] = operands as [SortableValue, SortableValue];
  switch (kind) {
    case 'eq':
      return compareAttributeValues(value, operand) === 0;
    case 'lt':
      return compareAttributeValues(value, operand) < 0;
    case 'lte':
      return compareAttributeValues(value, operand) <= 0;
    case 'gt':
      return compareAttributeValues(value, operand) > 0;
    case 'gte':
      return compareAttributeValues(value, operand) >= 0;
    case 'between':
      return compareAttributeValues(value, operand) >= 0 && compareAttributeValues(value, upper) <= 0;
    case 'beginsWith':
      return bytesOf(value).subarray(0, bytesOf(operand).byteLength).equals(bytesOf(operand));
  }
}

/** Where a range is cut: at this sort key, or right beside it. */
export interface RangeCut {
  sortKey: SortableValue;
  inclusive: boolean;
}

/**
 * The part of a range from a sort key on: where an ascending read goes on, or a descending one ends. DynamoDB takes one
 * condition on a sort key, so where the range has an upper end too, this is the narrowest condition that covers it: it
 * may include the cut itself and, behind a prefix, what follows. The reader drops both.
 */
export function rangeFrom(range: SortKeyRange | undefined, { sortKey, inclusive }: RangeCut): SortKeyRange {
  switch (range?.kind) {
    case 'eq':
      return range;
    case 'lt':
    case 'lte':
      return { kind: 'between', operands: [sortKey, range.operands[0]!] };
    case 'between':
      return { kind: 'between', operands: [sortKey, range.operands[1]!] };
    default:
      return { kind: inclusive ? 'gte' : 'gt', operands: [sortKey] };
  }
}

/** The part of a range up to a sort key: the mirror image of `rangeFrom`. */
export function rangeUpTo(range: SortKeyRange | undefined, { sortKey, inclusive }: RangeCut): SortKeyRange {
  switch (range?.kind) {
    case 'eq':
      return range;
    case 'gt':
    case 'gte':
    case 'between':
    case 'beginsWith':
      return { kind: 'between', operands: [range.operands[0]!, sortKey] };
    default:
      return { kind: inclusive ? 'lte' : 'lt', operands: [sortKey] };
  }
}

function bytesOf(value: SortableValue): Buffer {
  if ('S' in value) return Buffer.from(value.S);
  return 'B' in value ? Buffer.from(value.B) : Buffer.from(value.N);
}
