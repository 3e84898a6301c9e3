import { isRecord, isText } from '../../kernel/checks';
import { isNumberText, isUnsafeInteger, MAX_KEY_BYTES, UNSAFE_INTEGER_ALLOWED } from '../config/check-attribute-value';
import { type ShardedConfig, storeName } from '../config/sharded-index-config';
import { InvalidSortKeyConditionError } from '../config/sharded-index-errors';
import type { SortableValue } from './attribute-order';
import { isEmptyRange, prefixRange, type SortKeyRange } from './sort-key-range';

/**
 * A value to compare a sort key with. If JavaScript cannot represent a number exactly, write the number as an attribute
 * value of up to 38 digits: `{ N: '12345678901234567890' }`.
 */
export type SortKeyValue = string | number | Uint8Array | SortableValue;

/**
 * A condition on one sort key attribute: an object with exactly one of these fields. `between` includes both bounds.
 */
export type SortKeyCondition =
  | { eq: SortKeyValue }
  | { lt: SortKeyValue }
  | { lte: SortKeyValue }
  | { gt: SortKeyValue }
  | { gte: SortKeyValue }
  | { between: [SortKeyValue, SortKeyValue] }
  | { beginsWith: string | Uint8Array | { S: string } | { B: Uint8Array } };

/**
 * The part of a sort key that a query reads: the first attributes equal these values, and the next attribute is in a
 * range.
 */
export interface SortKeySelect {
  equal: readonly SortableValue[];
  range: SortKeyRange;
}

const CONDITIONS = ['eq', 'lt', 'lte', 'gt', 'gte', 'between', 'beginsWith'];

/**
 * Converts the `sortKey` of a request to the part of the sort key that the query reads.
 *
 * @throws InvalidSortKeyConditionError if the condition is invalid or does not fit the index
 */
export function sortKeySelect(config: ShardedConfig, sortKey: unknown): SortKeySelect {
  const { sortKeyAttributes } = config;
  if (sortKey === undefined) return { equal: [], range: {} };
  if (sortKeyAttributes.length === 0) {
    throw new InvalidSortKeyConditionError('sortKey', sortKey, `absent because ${storeName(config)} has no sort key`);
  }
  const fields = Object.entries(Object(sortKey));
  const byAttribute = fields.length > 0 && fields.every(([name, value]) => isCondition(value, name, sortKeyAttributes));
  if (!byAttribute) return selectOf([condition('sortKey', sortKey)]);
  const named = sortKeyAttributes.filter((attribute) => Object.hasOwn(sortKey as object, attribute));
  if (named.some((attribute, index) => attribute !== sortKeyAttributes[index])) {
    const allowed = `conditions on the first attributes of ${sortKeyAttributes.join(', ')}, without a gap`;
    throw new InvalidSortKeyConditionError('sortKey', sortKey, allowed);
  }
  const conditions = named.map((attribute) =>
    condition(`sortKey.${attribute}`, (sortKey as Record<string, unknown>)[attribute]),
  );
  const open = conditions.slice(0, -1).findIndex((each) => !('equal' in each));
  if (open !== -1) {
    throw new InvalidSortKeyConditionError(
      `sortKey.${named[open]}`,
      (sortKey as Record<string, unknown>)[named[open]!],
      `an eq condition because a condition on ${named[open + 1]} follows`,
    );
  }
  return selectOf(conditions);
}

/** Converts a sort key value or an index value to an attribute value. */
export function toAttributeValue(value: SortKeyValue): SortableValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value instanceof Uint8Array ? { B: value } : value;
}

type AttributeCondition = { equal: SortableValue } | { range: SortKeyRange };

function selectOf(conditions: readonly AttributeCondition[]): SortKeySelect {
  const last = conditions.at(-1)!;
  return {
    equal: conditions.flatMap((each) => ('equal' in each ? [each.equal] : [])),
    range: 'range' in last ? last.range : {},
  };
}

/** Whether a field of `sortKey` is the name of an attribute. Otherwise the field is an operator for the first attribute. */
function isCondition(value: unknown, name: string, sortKeyAttributes: readonly string[]): boolean {
  if (!sortKeyAttributes.includes(name)) return false;
  const plain = isRecord(value) && !(value instanceof Uint8Array);
  const isValue = plain && Object.keys(value).some((type) => ['S', 'N', 'B'].includes(type));
  return plain && !isValue;
}

function condition(field: string, condition: unknown): AttributeCondition {
  const kinds = Object.keys(Object(condition));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1 || !CONDITIONS.includes(kind)) {
    throw new InvalidSortKeyConditionError(field, condition, `an object with exactly one of ${CONDITIONS.join(', ')}`);
  }
  const operand = (condition as Record<string, unknown>)[kind];
  const operandField = `${field}.${kind}`;
  if (kind === 'between') return { range: betweenRange(operandField, operand) };
  const value = sortKeyValue(operandField, operand);
  if (kind === 'eq') return { equal: value };
  if (kind === 'beginsWith') {
    if ('N' in value) {
      const allowed = 'a string or binary because a number has no prefix';
      throw new InvalidSortKeyConditionError(operandField, operand, allowed);
    }
    return { range: prefixRange(value) };
  }
  const end = { value, inclusive: kind === 'lte' || kind === 'gte' };
  return { range: kind === 'lt' || kind === 'lte' ? { upper: end } : { lower: end } };
}

function betweenRange(field: string, operand: unknown): SortKeyRange {
  if (!Array.isArray(operand) || operand.length !== 2) {
    throw new InvalidSortKeyConditionError(field, operand, 'an array of the lower bound and the upper bound');
  }
  const [lower, upper] = operand.map((bound) => sortKeyValue(field, bound)) as [SortableValue, SortableValue];
  if (Object.keys(lower)[0] !== Object.keys(upper)[0]) {
    throw new InvalidSortKeyConditionError(field, operand, 'an array of two bounds of the same type');
  }
  const range = { lower: { value: lower, inclusive: true }, upper: { value: upper, inclusive: true } };
  if (isEmptyRange(range)) {
    throw new InvalidSortKeyConditionError(field, operand, 'an array of the lower bound and then the upper bound');
  }
  return range;
}

function sortKeyValue(field: string, value: unknown): SortableValue {
  if (isUnsafeInteger(value)) throw new InvalidSortKeyConditionError(field, value, UNSAFE_INTEGER_ALLOWED);
  const attributeValue: { S?: unknown; N?: unknown; B?: unknown } = Object(toAttributeValue(value as SortKeyValue));
  const { S, N, B } = attributeValue;
  const valid = isText(S) || isNumberText(N) || (B instanceof Uint8Array && B.byteLength > 0);
  if (!valid || Object.keys(attributeValue).length !== 1) {
    const allowed = 'a non-empty string, a finite number, binary, or an attribute value of type S, N or B';
    throw new InvalidSortKeyConditionError(field, value, allowed);
  }
  const bytes = typeof S === 'string' ? Buffer.byteLength(S) : B instanceof Uint8Array ? B.byteLength : 0;
  if (bytes > MAX_KEY_BYTES.sort) {
    const allowed = `at most ${MAX_KEY_BYTES.sort} bytes long (the limit of a sort key of DynamoDB)`;
    throw new InvalidSortKeyConditionError(field, value, allowed);
  }
  return attributeValue as SortableValue;
}
