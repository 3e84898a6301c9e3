import type { AttributeValue, DynamoDbItem } from '../../foundation/attribute-value';
import { attributeOf } from '../config/attribute-of';
import { type ShardedIndexConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { isBesideValue, shardAttributeValue, storedPlace } from '../config/stored-place';
import { plainItem } from '../query/plain-item';
import { shardAttributes } from '../write/shard-attributes';
import type { Stray, StrayReason } from './stray';

/** With these reasons, queries for the value of an item do not find the item. */
const HIDDEN: ReadonlySet<StrayReason> = new Set(['missing', 'malformed', 'otherValue', 'outOfRange']);

const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/;

/** The attributes that decide whether an item is a stray of an index: its table key, its value and its shard. */
export function judgedIndexAttributes({ tableKey, valueAttribute, shardAttribute }: ShardedIndexConfig): string[] {
  return [...new Set([...tableKey, ...(valueAttribute === undefined ? [] : [valueAttribute]), shardAttribute])];
}

/** What is wrong with the shard attribute of an item, or undefined if nothing is. */
export function indexStrayOf(config: ShardedIndexConfig, item: DynamoDbItem): Stray | undefined {
  const { tableKey, valueAttribute, shardAttribute } = config;
  const stored = attributeOf(item, shardAttribute);
  const storedValue = valueAttribute === undefined ? undefined : attributeOf(item, valueAttribute);
  const key = Object.fromEntries(tableKey.map((attribute) => [attribute, item[attribute]!]));
  const found = (reason: StrayReason, expected?: AttributeValue): Stray => ({
    key,
    reason,
    hidden: HIDDEN.has(reason),
    ...(storedValue !== undefined && { value: storedValue }),
    ...(stored !== undefined && { stored }),
    ...(expected !== undefined && { expected }),
  });
  const written = writtenShard(config, item);
  if (written === 'invalidValue') return found(written);
  if (written === undefined) return stored === undefined ? undefined : found('leftOver');
  const { value, content } = written;
  const expected: AttributeValue = typeof content === 'number' ? { N: String(content) } : { S: content };
  if (stored === undefined) return found('missing', expected);
  const shard = storedShard(config, value, stored);
  if (typeof shard === 'string') return found(shard, expected);
  const { write, read } = shardCountOf(config, value);
  if (shard < 0 || shard >= read) return found('outOfRange', expected);
  const isRight = config.strategy === 'random' ? shard < write : shardAttributeValue(config, value, shard) === content;
  return isRight ? undefined : found('misplaced', expected);
}

/** The value of an item, and what a writer puts into its shard attribute. Undefined if the index does not hold the item. */
function writtenShard(
  config: ShardedIndexConfig,
  item: DynamoDbItem,
): { value?: string | number; content: string | number } | 'invalidValue' | undefined {
  const attributes = plainItem(item);
  try {
    const content = attributeOf(shardAttributes(config, attributes), config.shardAttribute) as
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

/** The 0-based shard that an attribute names, or what is wrong with the attribute. */
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
