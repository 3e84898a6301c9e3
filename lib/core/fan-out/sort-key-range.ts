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

/** Where a continued read sets in: at this sort key, or right behind it. */
export interface ResumeBound {
  sortKey: SortableValue;
  inclusive: boolean;
}

/**
 * The range a continued, ascending read asks for. DynamoDB takes one condition on a sort key, so where the range has an
 * upper end too, this is the narrowest condition that covers it: it may include the bound itself and, behind a prefix,
 * what follows. The reader drops both.
 */
export function resumeAscending(range: SortKeyRange | undefined, { sortKey, inclusive }: ResumeBound): SortKeyRange {
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

/** The range a continued, descending read asks for: the mirror image of `resumeAscending`. */
export function resumeDescending(range: SortKeyRange | undefined, { sortKey, inclusive }: ResumeBound): SortKeyRange {
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

/**
 * The range of an ascending read that goes on from a start key inside `range`, and ends with a sort key of it. What the
 * start key excludes, the range may include again.
 */
export function endAscending(range: SortKeyRange | undefined, last: SortableValue): SortKeyRange {
  switch (range?.kind) {
    case 'eq':
      return range;
    case 'gt':
    case 'gte':
    case 'between':
    case 'beginsWith':
      return { kind: 'between', operands: [range.operands[0]!, last] };
    default:
      return { kind: 'lte', operands: [last] };
  }
}

/** The range of a descending read that goes on from a start key: the mirror image of `endAscending`. */
export function endDescending(range: SortKeyRange | undefined, last: SortableValue): SortKeyRange {
  switch (range?.kind) {
    case 'eq':
      return range;
    case 'lt':
    case 'lte':
      return { kind: 'between', operands: [last, range.operands[0]!] };
    case 'between':
      return { kind: 'between', operands: [last, range.operands[1]!] };
    default:
      return { kind: 'gte', operands: [last] };
  }
}

function bytesOf(value: SortableValue): Buffer {
  if ('S' in value) return Buffer.from(value.S);
  return 'B' in value ? Buffer.from(value.B) : Buffer.from(value.N);
}
