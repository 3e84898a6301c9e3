import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { EXPRESSION_LIMITS, expressionProblem } from '../../aws-client/expression';
import { checkPageRequest, type FanOutOrder, requestedValues } from '../../fan-out/page-request';
import { checkReadUnits } from '../../fan-out/read-budget';
import { isRecord, isText } from '../../kernel/checks';
import { plainDecimal } from '../../kernel/decimal';
import { InvalidArgumentError } from '../../kernel/errors';
import { valueText } from '../../sharding/count-of-value';
import {
  checkAttributeValue,
  isNumberText,
  isUnsafeInteger,
  MAX_KEY_BYTES,
  UNSAFE_INTEGER_ALLOWED,
} from '../config/check-attribute-value';
import { isTableConfig, type ShardedConfig, type ShardedTableConfig, storeName } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { itemBytes } from './item-bytes';
import type { SortKeyCondition } from './sort-key-select';

/**
 * A value of an index or a table: a text, a number, or the digits of a number that JavaScript cannot represent exactly.
 */
export type FanOutValue = string | number | { N: string };

/** A query of a sharded index. */
export interface FanOutRequest {
  /** The value of the items to read. Set `value` or `values` unless the index has no value attribute. */
  value?: FanOutValue;
  /**
   * Up to 100 different values, whose items the query merges in one order. Each value has its own shard count.
   * @default only `value`
   */
  values?: FanOutValue[];
  /**
   * A condition on the first sort key attribute, such as `{ gt: '2026' }`, or conditions by attribute, such as `{
   * priority: { eq: 1 }, createdAt: { gt: '2026' } }`. Conditions by attribute must name the first attributes of the
   * sort key, without a gap. All conditions except the last must be `eq`. DynamoDB reads, and charges for, only the
   * items that meet the conditions.
   * @default every sort key
   */
  sortKey?: SortKeyCondition | Record<string, SortKeyCondition>;
  /**
   * The order of the items over all shards. `unordered` costs less for a small page, because the query reads only as
   * many shards as the page needs.
   * @default 'ascending'
   */
  order?: FanOutOrder;
  /**
   * The maximum number of items on a page, at least 1.
   * @default no bound
   */
  limit?: number;
  /**
   * The maximum number of read units that the page should cost, greater than 0. When the page has consumed these units, the
   * page ends with a cursor.
   *
   * A page always reads a minimum number of items, so that the next page can continue. An ordered page reads one item of each
   * shard, which costs half a unit or more per shard. An unordered page reads one item of one shard. Each empty shard before
   * that shard costs half a unit. While a filter hides every item, the sizes of items are unknown, and each of these reads
   * costs up to one block (4 KiB) more.
   *
   * The query predicts the cost of a read from the sizes of the items that it has read. The first page assumes one block per item.
   * If items are larger than predicted, a page can exceed the bound once, by at most the cost of one request to each shard. DynamoDB
   * reads at most 1 MB for a request, which costs 128 units, or 256 if reads are consistent. Set at least eight times the cost of the
   * minimum. Then all pages together cost at most 2.5 times as much as without a bound. With a bound close to the cost of the
   * minimum, an ordered page of large items returns only one item.
   * @default no bound
   */
  maxReadUnits?: number;
  /**
   * The `cursor` of the previous page. Only `limit`, `maxReadUnits` and `projection` may differ from the request for
   * the previous page.
   * @default the first page
   */
  cursor?: string;
  /**
   * The names of the top-level attributes to return. The query rejects a path such as `address.city` or `tags[0]`, and
   * a placeholder such as `#city`. To read an attribute whose name contains such characters, leave the projection out.
   * @default every attribute that the index projects
   */
  projection?: string[];
  /**
   * Whether reads are strongly consistent, at twice the read units. Allowed only for a table that is sharded by its own
   * key, because an index has no consistent reads.
   * @default false
   */
  consistentRead?: boolean;
  /**
   * A filter in DynamoDB's expression language. DynamoDB also charges for the items that the filter hides.
   * @default no filter
   */
  filterExpression?: string;
  /**
   * Attribute names for the placeholders of the filter. A placeholder starts with `#`, and must not start with
   * `#evenShards`.
   */
  expressionAttributeNames?: Record<string, string>;
  /**
   * Attribute values for the placeholders of the filter. A placeholder starts with `:`, and must not start with
   * `:evenShards`.
   */
  expressionAttributeValues?: Record<string, AttributeValue>;
}

/** Placeholders that start with this word are reserved for the library. */
export const RESERVED_PLACEHOLDER = 'evenShards';

/** The fields of a request. */
export const FAN_OUT_FIELDS: readonly string[] = [
  'value',
  'values',
  'sortKey',
  'order',
  'limit',
  'maxReadUnits',
  'cursor',
  'projection',
  'consistentRead',
  'filterExpression',
  'expressionAttributeNames',
  'expressionAttributeValues',
];

/** The maximum number of attributes in the keys of an index and its table. Every response contains these attributes. */
const KEY_NAMES = 10;

/** One value that a request reads. Both fields are absent if the index has no value attribute. */
export interface RequestedValue {
  value?: FanOutValue;
  /** The value as it is written in keys and shard counts. */
  name?: string | number;
}

/**
 * Checks all fields of a request except `sortKey`, and returns the values to read.
 *
 * @throws InvalidArgumentError, or one of its subclasses, if a field is invalid
 */
export function checkFanOutRequest(config: ShardedConfig, request: FanOutRequest): RequestedValue[] {
  checkPageRequest(request, FAN_OUT_FIELDS);
  const values = requestedValues(
    request,
    (field, value) => checkedValue(config, field, value),
    ({ name = '' }) => valueText(name),
    InvalidIndexValueError,
  );
  checkReadUnits(request.maxReadUnits);
  checkProjection(request.projection);
  checkConsistentRead(config, request.consistentRead);
  checkExpression(request);
  return values;
}

function checkedValue(config: ShardedConfig, field: string, value: unknown): RequestedValue {
  const { valueAttribute } = config;
  if (valueAttribute === undefined) {
    if (value !== undefined) {
      throw new InvalidIndexValueError(field, value, `absent because ${storeName(config)} covers the whole table`);
    }
    return {};
  }
  if (!isFanOutValue(value)) {
    const allowed = `a non-empty string, a finite number or { N: digits } because ${storeName(config)} is keyed by ${valueAttribute}`;
    throw new InvalidIndexValueError(field, value, allowed);
  }
  if (isUnsafeInteger(value)) throw new InvalidIndexValueError(field, value, UNSAFE_INTEGER_ALLOWED);
  const name = typeof value === 'object' ? plainDecimal(value.N) : value;
  if (isTableConfig(config)) checkSeparator(config, field, name);
  const key = config.keyLayout === 'multi-attribute' ? name : shardAttributeValue(config, name, 0);
  if (typeof key === 'string' && Buffer.byteLength(key) > MAX_KEY_BYTES.partition) {
    const allowed = `at most ${MAX_KEY_BYTES.partition} bytes long including the shard (the limit of a partition key of DynamoDB)`;
    throw new InvalidIndexValueError(field, value, allowed);
  }
  return { value, name };
}

function isFanOutValue(value: unknown): value is FanOutValue {
  if (isRecord(value)) return Object.keys(value).length === 1 && isNumberText(value.N);
  return isText(value) || (typeof value === 'number' && Number.isFinite(value));
}

/** @throws InvalidIndexValueError if the value contains the separator, which ends the value in a partition key */
export function checkSeparator({ separator }: ShardedTableConfig, field: string, value: string | number): void {
  if (!valueText(value).includes(separator)) return;
  throw new InvalidIndexValueError(field, value, `a value without the separator ${JSON.stringify(separator)}`);
}

/**
 * DynamoDB would take a path or a placeholder as the literal name of an attribute, and would not find the attribute.
 */
const PATH_OR_PLACEHOLDER = /[.[]|^#/;

function checkProjection(projection: unknown): void {
  if (projection === undefined) return;
  const valid =
    Array.isArray(projection) &&
    projection.length > 0 &&
    projection.every((name) => isText(name) && !PATH_OR_PLACEHOLDER.test(name));
  if (!valid) {
    const allowed = 'a non-empty array of top-level attribute names without a dot, "[" or a leading "#"';
    throw new InvalidArgumentError('projection', projection, allowed);
  }
  // Reserve placeholders for the keys of the index and of the table.
  const placeholders = Array.from(
    { length: new Set(projection).size + KEY_NAMES },
    (_, at) => `#${RESERVED_PLACEHOLDER}${at + 100}`,
  );
  if (expressionProblem({ ProjectionExpression: placeholders.join(', ') }) === undefined) return;
  const allowed = `at most about 240 attributes (their placeholders must fit into ${EXPRESSION_LIMITS.bytes} bytes)`;
  throw new InvalidArgumentError('projection', projection.length, allowed);
}

function checkConsistentRead(config: ShardedConfig, consistentRead: unknown): void {
  if (consistentRead === undefined || typeof consistentRead === 'boolean') {
    if (!consistentRead || isTableConfig(config)) return;
    const allowed = 'false or absent because DynamoDB has no consistent reads of a global secondary index';
    throw new InvalidArgumentError('consistentRead', consistentRead, allowed);
  }
  throw new InvalidArgumentError('consistentRead', consistentRead, 'true, false or absent');
}

function checkExpression(request: FanOutRequest): void {
  const { filterExpression, expressionAttributeNames: names, expressionAttributeValues: values } = request;
  if (filterExpression !== undefined && (typeof filterExpression !== 'string' || filterExpression.trim() === '')) {
    throw new InvalidArgumentError('filterExpression', filterExpression, 'a non-empty expression or absent');
  }
  const problem = expressionProblem({ FilterExpression: filterExpression });
  if (problem !== undefined) {
    const { bytes, operators, inOperands } = EXPRESSION_LIMITS;
    const allowed = `at most ${bytes} bytes long, with at most ${operators} operators and ${inOperands} operands of an IN`;
    throw new InvalidArgumentError('filterExpression', filterExpression, allowed);
  }
  for (const [field, placeholders, sign] of [
    ['expressionAttributeNames', names, '#'],
    ['expressionAttributeValues', values, ':'],
  ] as const) {
    if (placeholders === undefined) continue;
    if (!isRecord(placeholders)) {
      throw new InvalidArgumentError(field, placeholders, `an object with keys that start with "${sign}"`);
    }
    if (filterExpression === undefined) {
      throw new InvalidArgumentError(field, placeholders, 'absent without a filterExpression');
    }
    for (const placeholder of Object.keys(placeholders)) {
      if (!placeholder.startsWith(sign) || placeholder.startsWith(sign + RESERVED_PLACEHOLDER)) {
        const allowed = `keyed by placeholders that start with "${sign}" and not with "${sign}${RESERVED_PLACEHOLDER}"`;
        throw new InvalidArgumentError(field, placeholder, allowed);
      }
    }
  }
  for (const [placeholder, name] of Object.entries(names ?? {})) {
    if (!isText(name)) {
      throw new InvalidArgumentError(`expressionAttributeNames[${placeholder}]`, name, 'an attribute name');
    }
  }
  for (const [placeholder, value] of Object.entries(values ?? {})) {
    checkAttributeValue(`expressionAttributeValues[${placeholder}]`, value);
  }
  if (values !== undefined && itemBytes(values as DynamoDbItem) > EXPRESSION_LIMITS.placeholderBytes) {
    const allowed = `at most ${EXPRESSION_LIMITS.placeholderBytes} bytes in all (the limit of an expression of DynamoDB)`;
    throw new InvalidArgumentError('expressionAttributeValues', Object.keys(values), allowed);
  }
}
