import { firstTextAfter, type RangeEnd, type ValueRange } from '../fan-out/value-range';
import { type ColumnValue, columnValue, compareValues } from './column-value';
import { TEXT_TYPES } from './cql-key-type';
import type { ClusteringCondition } from './fan-out-select-request';
import { InvalidClusteringConditionError } from './keyspaces-errors';
import type { KeyColumn } from './sharded-keyspaces-config';

/** A range of a column's values, in the order of its type. */
export type ColumnRange = ValueRange<ColumnValue>;

const BOUNDS = ['gt', 'gte', 'lt', 'lte'];

/**
 * Converts a condition to the value that the column must have, or to the range of its values.
 *
 * @throws InvalidClusteringConditionError if the condition is invalid
 * @throws InvalidColumnValueError if a value does not fit the type of the column
 */
export function rangeOf(
  field: string,
  column: KeyColumn,
  condition: ClusteringCondition,
): { equal: ColumnValue } | { range: ColumnRange } {
  const operands: Record<string, unknown> = Object(condition);
  const kinds = Object.keys(operands);
  const kind = kinds.join();
  const operand = (name: string): ColumnValue => columnValue(`${field}.${name}`, column, operands[name]);
  if (kind === 'eq') return { equal: operand('eq') };
  if (kind === 'between')
    return { range: checkedRange(field, column, condition, betweenRange(field, column, operands)) };
  if (kind === 'beginsWith') return { range: prefixRange(field, column, operands.beginsWith) };
  const one = (names: [string, string]) => kinds.filter((name) => names.includes(name)).length <= 1;
  const valid =
    kinds.length > 0 && kinds.every((name) => BOUNDS.includes(name)) && one(['gt', 'gte']) && one(['lt', 'lte']);
  if (!valid) {
    const allowed = 'eq, between, beginsWith, or a range with one or both ends (gt or gte, lt or lte)';
    throw new InvalidClusteringConditionError(field, condition, allowed);
  }
  const end = (inclusive: string, exclusive: string): RangeEnd<ColumnValue> | undefined => {
    const name = kinds.find((each) => each === inclusive || each === exclusive);
    return name === undefined ? undefined : { value: operand(name), inclusive: name === inclusive };
  };
  return { range: checkedRange(field, column, condition, { lower: end('gte', 'gt'), upper: end('lte', 'lt') }) };
}

function betweenRange(field: string, column: KeyColumn, { between }: Record<string, unknown>): ColumnRange {
  if (!Array.isArray(between) || between.length !== 2) {
    const allowed = 'an array of the lower and the upper bound';
    throw new InvalidClusteringConditionError(`${field}.between`, between, allowed);
  }
  const [lower, upper] = between.map((bound) => columnValue(`${field}.between`, column, bound));
  return { lower: { value: lower!, inclusive: true }, upper: { value: upper!, inclusive: true } };
}

function checkedRange(field: string, column: KeyColumn, condition: unknown, range: ColumnRange): ColumnRange {
  const { lower, upper } = range;
  if (lower !== undefined && upper !== undefined && compareValues(column, lower.value, upper.value) > 0) {
    throw new InvalidClusteringConditionError(field, condition, 'a lower bound that is at most the upper bound');
  }
  return range;
}

/** Converts a prefix to the range of the texts that begin with the prefix, because CQL has no condition for a prefix. */
function prefixRange(field: string, column: KeyColumn, prefix: unknown): ColumnRange {
  if (!TEXT_TYPES.includes(column.type)) {
    const allowed = `a condition on a column of type ${TEXT_TYPES.join(', ')}: ${column.name} is ${column.type}`;
    throw new InvalidClusteringConditionError(`${field}.beginsWith`, prefix, allowed);
  }
  const lower = { value: columnValue(`${field}.beginsWith`, column, prefix), inclusive: true };
  const after = firstTextAfter(prefix as string, column.type === 'ascii' ? 0x7f : undefined);
  if (after === undefined) return { lower };
  return { lower, upper: { value: columnValue(field, column, after), inclusive: false } };
}
