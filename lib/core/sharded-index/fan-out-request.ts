import type { AttributeValue } from '../foundation/attribute-value';
import { InvalidArgumentError } from '../foundation/errors';
import { compareAttributeValues, type SortableValue } from './attribute-order';
import type { ShardedIndexConfig } from './sharded-index-config';
import { InvalidIndexValueError, InvalidSortKeyConditionError } from './sharded-index-errors';

/**
 * A value to compare a sort key with. Write a number that JavaScript cannot hold exactly as DynamoDB writes it, with up
 * to 38 digits: `{ N: '12345678901234567890' }`.
 */
export type SortKeyValue = string | number | Uint8Array | SortableValue;

/**
 * A condition on the first sort key attribute: an object with exactly one of these fields. `between` includes both
 * bounds.
 */
export type SortKeyCondition =
  | { eq: SortKeyValue }
  | { lt: SortKeyValue }
  | { lte: SortKeyValue }
  | { gt: SortKeyValue }
  | { gte: SortKeyValue }
  | { between: [SortKeyValue, SortKeyValue] }
  | { beginsWith: string | Uint8Array | { S: string } | { B: Uint8Array } };

/** The order of the items over all shards. `unordered` goes through one shard after the other. */
export type FanOutOrder = 'ascending' | 'descending' | 'unordered';

/** What to read from a sharded index. */
export interface FanOutRequest {
  /** The value whose items to read. Required if the index is keyed by a value, and absent otherwise. */
  value?: string | number;
  /**
   * A condition on the sort key. The query reads, and pays for, only the items that meet it.
   * @default every sort key
   */
  sortKey?: SortKeyCondition;
  /**
   * The order of the items over all shards. `unordered` costs less for a small page because it asks few shards at a
   * time.
   * @default 'ascending'
   */
  order?: FanOutOrder;
  /**
   * The most items on a page, at least 1.
   * @default no bound
   */
  limit?: number;
  /**
   * The `cursor` of the page before. The request must be the same as for that page, except for `limit` and
   * `projection`.
   * @default the first page
   */
  cursor?: string;
  /**
   * The names of the top-level attributes to return.
   * @default every attribute that the index projects
   */
  projection?: string[];
  /**
   * A filter in DynamoDB's expression language. It hides items, but DynamoDB charges for reading them all the same.
   * @default no filter
   */
  filterExpression?: string;
  /** Attribute names for the placeholders of the filter, which start with `#`, and not with `#evenShards`. */
  expressionAttributeNames?: Record<string, string>;
  /** Attribute values for the placeholders of the filter, which start with `:`, and not with `:evenShards`. */
  expressionAttributeValues?: Record<string, AttributeValue>;
}

/** The library keeps expression placeholders that start with this word for itself. */
export const RESERVED_PLACEHOLDER = 'evenShards';

const CONDITIONS = ['eq', 'lt', 'lte', 'gt', 'gte', 'between', 'beginsWith'];
const VALUE_TYPES = ['S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL'];
const ORDERS = ['ascending', 'descending', 'unordered'];
const FIELDS = [
  'value',
  'sortKey',
  'order',
  'limit',
  'cursor',
  'projection',
  'filterExpression',
  'expressionAttributeNames',
  'expressionAttributeValues',
];

/** Throws a typed error if the index cannot answer the request. */
export function checkFanOutRequest(config: ShardedIndexConfig, request: FanOutRequest): void {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new InvalidArgumentError('request', request, 'an object');
  }
  for (const field of Object.keys(request)) {
    if (!FIELDS.includes(field)) throw new InvalidArgumentError('request', field, `made of ${FIELDS.join(', ')}`);
  }
  checkValue(config, request.value);
  if (request.sortKey !== undefined) checkSortKeyCondition(config, request.sortKey);
  if (request.order !== undefined && !ORDERS.includes(request.order)) {
    throw new InvalidArgumentError('order', request.order, `one of ${ORDERS.join(', ')}`);
  }
  if (request.limit !== undefined && (!Number.isSafeInteger(request.limit) || request.limit < 1)) {
    throw new InvalidArgumentError('limit', request.limit, 'a whole number of at least 1');
  }
  checkProjection(request.projection);
  checkExpression(request);
}

/** The attribute value of a sort key value or index value. */
export function toAttributeValue(value: SortKeyValue): SortableValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value instanceof Uint8Array ? { B: value } : value;
}

function checkValue({ indexName, valueAttribute }: ShardedIndexConfig, value: unknown): void {
  if (valueAttribute === undefined) {
    if (value !== undefined) {
      throw new InvalidIndexValueError('value', value, `absent because index ${indexName} covers the whole table`);
    }
  } else if (!(typeof value === 'string' && value !== '') && !(typeof value === 'number' && Number.isFinite(value))) {
    throw new InvalidIndexValueError(
      'value',
      value,
      `a non-empty string or a finite number because index ${indexName} is keyed by ${valueAttribute}`,
    );
  }
}

function checkSortKeyCondition(
  { indexName, sortKeyAttributes }: ShardedIndexConfig,
  condition: SortKeyCondition,
): void {
  if (sortKeyAttributes.length === 0) {
    throw new InvalidSortKeyConditionError('sortKey', condition, `absent because index ${indexName} has no sort key`);
  }
  const kinds = typeof condition === 'object' && condition !== null ? Object.keys(condition) : [];
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1 || !CONDITIONS.includes(kind)) {
    throw new InvalidSortKeyConditionError(
      'sortKey',
      condition,
      `an object with exactly one of ${CONDITIONS.join(', ')}`,
    );
  }
  const operand = (condition as Record<string, unknown>)[kind];
  const field = `sortKey.${kind}`;
  if (kind === 'between') {
    if (!Array.isArray(operand) || operand.length !== 2) {
      throw new InvalidSortKeyConditionError(field, operand, 'an array of the lower bound and the upper bound');
    }
    for (const bound of operand) checkSortKeyValue(field, bound);
    const [lower, upper] = operand.map(toAttributeValue) as [SortableValue, SortableValue];
    if (typeOf(lower) !== typeOf(upper)) {
      throw new InvalidSortKeyConditionError(field, operand, 'an array of two bounds of the same type');
    }
    if (compareAttributeValues(lower, upper) > 0) {
      throw new InvalidSortKeyConditionError(field, operand, 'an array of the lower bound and then the upper bound');
    }
  } else {
    checkSortKeyValue(field, operand);
    if (kind === 'beginsWith' && typeOf(toAttributeValue(operand as SortKeyValue)) === 'N') {
      throw new InvalidSortKeyConditionError(field, operand, 'a string or binary because a number has no prefix');
    }
  }
}

/**
 * A number of up to 38 digits; DynamoDB itself checks its magnitude. Source: the DynamoDB developer guide, "Data
 * types".
 */
const NUMBER = /^[+-]?(?=\.?\d)\d{0,126}(?:\.\d{0,130})?(?:[eE][+-]?\d{1,3})?$/;

function checkSortKeyValue(field: string, value: unknown): void {
  const attributeValue: { S?: unknown; N?: unknown; B?: unknown } = Object(toAttributeValue(value as SortKeyValue));
  const { S, N, B } = attributeValue;
  const valid =
    (typeof S === 'string' && S !== '') ||
    (typeof N === 'string' && NUMBER.test(N)) ||
    (B instanceof Uint8Array && B.byteLength > 0);
  if (valid && Object.keys(attributeValue).length === 1) return;
  const allowed = 'a non-empty string, a finite number, binary, or an attribute value of type S, N or B';
  throw new InvalidSortKeyConditionError(field, value, allowed);
}

function typeOf(value: SortableValue): string {
  return Object.keys(value)[0]!;
}

function checkProjection(projection: unknown): void {
  if (projection === undefined) return;
  const valid =
    Array.isArray(projection) &&
    projection.length > 0 &&
    projection.every((name) => typeof name === 'string' && name !== '');
  if (!valid) throw new InvalidArgumentError('projection', projection, 'a non-empty array of attribute names');
}

function checkExpression(request: FanOutRequest): void {
  const { filterExpression, expressionAttributeNames: names, expressionAttributeValues: values } = request;
  if (filterExpression !== undefined && (typeof filterExpression !== 'string' || filterExpression.trim() === '')) {
    throw new InvalidArgumentError('filterExpression', filterExpression, 'a non-empty expression or absent');
  }
  for (const [field, placeholders, sign] of [
    ['expressionAttributeNames', names, '#'],
    ['expressionAttributeValues', values, ':'],
  ] as const) {
    if (placeholders === undefined) continue;
    if (typeof placeholders !== 'object' || placeholders === null || Array.isArray(placeholders)) {
      throw new InvalidArgumentError(field, placeholders, `an object with keys that start with "${sign}"`);
    }
    if (filterExpression === undefined) {
      throw new InvalidArgumentError(field, placeholders, 'absent unless there is a filterExpression that uses it');
    }
    for (const placeholder of Object.keys(placeholders)) {
      if (!placeholder.startsWith(sign) || placeholder.startsWith(sign + RESERVED_PLACEHOLDER)) {
        const allowed = `keyed by placeholders that start with "${sign}" and not with "${sign}${RESERVED_PLACEHOLDER}"`;
        throw new InvalidArgumentError(field, placeholder, allowed);
      }
    }
  }
  for (const [placeholder, name] of Object.entries(names ?? {})) {
    if (typeof name !== 'string' || name === '') {
      throw new InvalidArgumentError(`expressionAttributeNames[${placeholder}]`, name, 'an attribute name');
    }
  }
  for (const [placeholder, value] of Object.entries(values ?? {})) {
    const types = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (types.length !== 1 || !VALUE_TYPES.includes(types[0]!)) {
      const allowed = 'an attribute value of one type, such as {"S":"text"}';
      throw new InvalidArgumentError(`expressionAttributeValues[${placeholder}]`, value, allowed);
    }
  }
}
