import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { attributeOf, attributesOf } from '../../aws-client/attribute-value';
import { type ShardedIndexConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { isBesideValue, shardAttributeValue, storedPlace } from '../config/stored-place';
import { plainItem } from '../query/plain-item';
import { missingSortKey } from '../write/missing-sort-key';
import { shardAttributesOfUpdate } from '../write/shard-attributes';
import type { Stray, StrayReason } from './stray';

/** If a stray has one of these reasons, a query for the value of the item does not find the item. */
const HIDDEN: ReadonlySet<StrayReason> = new Set(['missing', 'malformed', 'otherValue', 'outOfRange', 'noSortKey']);

const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/;

/** The attributes that determine whether an item is a stray of an index: table key, value, shard and sort key. */
export function indexStrayAttributes(config: ShardedIndexConfig): string[] {
  const { tableKey, valueAttribute, shardAttribute, sortKeyAttributes } = config;
  const value = valueAttribute === undefined ? [] : [valueAttribute];
  return [...new Set([...tableKey, ...value, shardAttribute, ...sortKeyAttributes])];
}

/** Checks an item of an index. Returns the stray, or undefined if the item is at its place. */
export function indexStrayOf(config: ShardedIndexConfig, item: DynamoDbItem): Stray | undefined {
  const { tableKey, valueAttribute, shardAttribute, sparse } = config;
  const attributes = plainItem(item);
  const hasSortKey = missingSortKey(config, attributes) === undefined;
  const stored = attributeOf(item, shardAttribute);
  const storedValue = valueAttribute === undefined ? undefined : attributeOf(item, valueAttribute);
  const found = (reason: StrayReason, expected?: AttributeValue): Stray => ({
    key: attributesOf(item, tableKey),
    reason,
    // A sparse index does not contain items without the sort key, so such an item is not hidden yet.
    hidden: HIDDEN.has(reason) && (hasSortKey || sparse !== true),
    ...(storedValue !== undefined && { value: storedValue }),
    ...(stored !== undefined && { stored }),
    ...(expected !== undefined && { expected }),
  });
  const written = writtenShard(config, attributes);
  if (written === 'invalidValue') return found(written);
  if (written === undefined) return stored === undefined ? undefined : found('leftOver');
  const { value, content } = written;
  const expected: AttributeValue = typeof content === 'number' ? { N: String(content) } : { S: content };
  const problem = shardProblem(config, stored, value, content);
  if (!hasSortKey && sparse !== true) return found('noSortKey', problem && expected);
  return problem && found(problem, expected);
}

/** Why the shard attribute of an item is wrong. Undefined if the attribute is right. */
function shardProblem(
  config: ShardedIndexConfig,
  stored: AttributeValue | undefined,
  value: string | number | undefined,
  content: string | number,
): StrayReason | undefined {
  if (stored === undefined) return 'missing';
  const shard = storedShard(config, value, stored);
  if (typeof shard === 'string') return shard;
  const { write, read } = shardCountOf(config, value);
  if (shard < 0 || shard >= read) return 'outOfRange';
  const isRight = config.strategy === 'random' ? shard < write : shardAttributeValue(config, value, shard) === content;
  return isRight ? undefined : 'misplaced';
}

/**
 * The value of an item, and the content that a writer gives its shard attribute. Undefined if the item does not belong
 * in the index.
 */
function writtenShard(
  config: ShardedIndexConfig,
  attributes: Record<string, unknown>,
): { value?: string | number; content: string | number } | 'invalidValue' | undefined {
  try {
    const content = attributeOf(shardAttributesOfUpdate(config, attributes), config.shardAttribute) as
      | string
      | number
      | undefined;
    if (content === undefined) return undefined;
    const value = config.valueAttribute === undefined ? undefined : attributeOf(attributes, config.valueAttribute);
    return { value: value as string | number | undefined, content };
  } catch (error) {
    if (error instanceof InvalidIndexValueError) return 'invalidValue';
    throw error;
  }
}

/** The 0-based shard in a shard attribute, or why the attribute is wrong. */
function storedShard(
  config: ShardedIndexConfig,
  value: string | number | undefined,
  stored: AttributeValue,
): number | 'malformed' | 'otherValue' {
  if (!isBesideValue(config)) {
    return 'N' in stored && WHOLE_NUMBER.test(stored.N) ? Number(stored.N) - (config.firstShard ?? 0) : 'malformed';
  }
  const place = 'S' in stored ? storedPlace(config, stored.S) : undefined;
  if (place === undefined) return 'malformed';
  return shardAttributeValue(config, value, place.shard) === (stored as { S: string }).S ? place.shard : 'otherValue';
}
