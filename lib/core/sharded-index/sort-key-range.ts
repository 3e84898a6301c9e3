import { compareAttributeValues, type SortableValue } from './attribute-order';
import { type SortKeyCondition, type SortKeyValue, toAttributeValue } from './fan-out-request';

/** A sort-key condition whose operands are attribute values. */
export interface SortKeyRange {
  kind: 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'between' | 'beginsWith';
  operands: SortableValue[];
}

export function sortKeyRange(condition: SortKeyCondition | undefined): SortKeyRange | undefined {
  if (condition === undefined) return undefined;
  const [kind, operand] = Object.entries(condition)[0] as [SortKeyRange['kind'], SortKeyValue | SortKeyValue[]];
  return { kind, operands: (Array.isArray(operand) ? operand : [operand]).map(toAttributeValue) };
}

/** Whether a sort key is in the range. */
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

/** Where a range is cut: at this sort key, which the part includes or leaves out. */
export interface RangeCut {
  sortKey: SortableValue;
  inclusive: boolean;
}

/**
 * The part of a range from a sort key on: an ascending read goes on there, and a descending read ends there. DynamoDB
 * allows only one condition on a sort key. So if the range also has an upper end, this is the narrowest condition that
 * covers the part. It may include the cut itself and, if the range is a prefix, items behind the prefix. The reader
 * drops both.
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
