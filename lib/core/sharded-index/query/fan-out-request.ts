import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { EXPRESSION_LIMITS, expressionProblem } from '../../aws-client/expression';
import { checkPageRequest, type FanOutOrder, requestedValues } from '../../fan-out/page-request';
import { checkReadUnits } from '../../fan-out/read-budget';
import { isRecord } from '../../kernel/checks';
import { plainDecimal } from '../../kernel/decimal';
import { InvalidArgumentError } from '../../kernel/errors';
import { valueText } from '../../sharding/count-of-value';
import {
  checkAttributeValue,
  isNumberText,
  isUnsafeInteger,
  UNSAFE_INTEGER_ALLOWED,
} from '../config/check-attribute-value';
import { isTableConfig, type ShardedConfig, type ShardedTableConfig, storeName } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { itemBytes } from './item-bytes';
import type { SortKeyCondition } from './sort-key-select';

/** A value of an index or a table: a text, a number, or the digits of a number that JavaScript cannot hold exactly. */
export type FanOutValue = string | number | { N: string };

/** What to read from a sharded index. */
export interface FanOutRequest {
  /** The value whose items to read. An index that is keyed by a value needs `value` or `values`. */
  value?: FanOutValue;
  /**
   * Several values whose items to read in one order: 1 to 100 different ones. Each value has its own shard count.
   * @default the one `value`
   */
  values?: FanOutValue[];
  /**
   * A condition on the first sort key attribute, such as `{ gt: '2026' }`; or conditions by attribute, such as
   * `{ priority: { eq: 1 }, createdAt: { gt: '2026' } }`. They name the first attributes of the sort key without a gap,
   * and only the last of them may be another condition than `eq`. The query reads, and pays for, only the items that
   * meet them.
   * @default every sort key
   */
  sortKey?: SortKeyCondition | Record<string, SortKeyCondition>;
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
   * The read units that the page should cost at most, greater than 0. The page ends with a cursor when they are used up. It
   * always has the least that lets the next page go on: an item of each shard if it is ordered, at half a unit for each or more. If it is
   * `unordered`, an item of one shard, and half a unit for each shard without any before it. It has a block more for each of these
   * reads as long as a filter has hidden everything, so that nobody knows how large the items are. What a read will cost is
   * expected from the sizes of the items before, so a page of different ones can cost up to twice its units, and a first page takes each item
   * for a block. Give a page eight times the least at least: then all pages together cost at most 2.5 times what they would cost without a
   * bound. With hardly more than the least, an ordered page of large items comes only an item further.
   * @default no bound
   */
  maxReadUnits?: number;
  /**
   * The `cursor` of the page before. The request must be the same as for that page, except for `limit`,
   * `maxReadUnits` and `projection`.
   * @default the first page
   */
  cursor?: string;
  /**
   * The names of the top-level attributes to return. A path such as `address.city` or `tags[0]`, and a placeholder such as
   * `#city`, are rejected. To read an attribute whose name looks like one, leave the projection out.
   * @default every attribute that the index projects
   */
  projection?: string[];
  /**
   * Whether to read what was written last, at twice the read units. Of a table that is sharded by its own key: an index
   * has no consistent reads.
   * @default false
   */
  consistentRead?: boolean;
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

const FIELDS = [
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

/** The most attributes of the keys of an index and of its table, which every answer holds. */
const KEY_NAMES = 10;

/** The most bytes of a partition key attribute. Source: the DynamoDB developer guide, "Quotas". */
const MAX_PARTITION_KEY_BYTES = 2_048;

/** One value that a request reads. Both fields are absent if the index covers the whole table. */
export interface RequestedValue {
  value?: FanOutValue;
  /** The value as keys and shard counts have it. */
  name?: string | number;
}

/**
 * Checks everything of a request but its sort key, and returns the values that it reads.
 *
 * @throws a typed error if the index cannot answer the request
 */
export function checkFanOutRequest(config: ShardedConfig, request: FanOutRequest): RequestedValue[] {
  checkPageRequest(request, FIELDS);
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
  if (typeof key === 'string' && Buffer.byteLength(key) > MAX_PARTITION_KEY_BYTES) {
    const allowed = `at most ${MAX_PARTITION_KEY_BYTES} bytes long with the number of a shard, as every partition key of DynamoDB is`;
    throw new InvalidIndexValueError(field, value, allowed);
  }
  return { value, name };
}

function isFanOutValue(value: unknown): value is FanOutValue {
  if (isRecord(value)) return Object.keys(value).length === 1 && isNumberText(value.N);
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value));
}

/**
 * @throws InvalidIndexValueError if the value contains the separator, so that it would not be clear where it ends in a
 *   partition key
 */
export function checkSeparator({ separator }: ShardedTableConfig, field: string, value: string | number): void {
  if (!valueText(value).includes(separator)) return;
  throw new InvalidIndexValueError(field, value, `a value without the separator ${JSON.stringify(separator)}`);
}

/** DynamoDB would look for an attribute of exactly this name, and return nothing. */
const PATH_OR_PLACEHOLDER = /[.[]|^#/;

function checkProjection(projection: unknown): void {
  if (projection === undefined) return;
  const valid =
    Array.isArray(projection) &&
    projection.length > 0 &&
    projection.every((name) => typeof name === 'string' && name !== '' && !PATH_OR_PLACEHOLDER.test(name));
  if (!valid) {
    const allowed = 'a non-empty array of attribute names of the top level, without a dot, "[" or a leading "#"';
    throw new InvalidArgumentError('projection', projection, allowed);
  }
  // Further names stand for the keys of the index and of the table.
  const placeholders = Array.from(
    { length: new Set(projection).size + KEY_NAMES },
    (_, at) => `#${RESERVED_PLACEHOLDER}${at + 100}`,
  );
  if (expressionProblem({ ProjectionExpression: placeholders.join(', ') }) === undefined) return;
  const allowed = `short enough for ${EXPRESSION_LIMITS.bytes} bytes of placeholders: about 240 attributes`;
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
    checkAttributeValue(`expressionAttributeValues[${placeholder}]`, value);
  }
  if (values !== undefined && itemBytes(values as DynamoDbItem) > EXPRESSION_LIMITS.placeholderBytes) {
    const allowed = `at most ${EXPRESSION_LIMITS.placeholderBytes} bytes in all, as DynamoDB allows for an expression`;
    throw new InvalidArgumentError('expressionAttributeValues', Object.keys(values), allowed);
  }
}
