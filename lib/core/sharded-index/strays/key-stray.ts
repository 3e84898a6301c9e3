import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { attributeOf, attributesOf } from '../../aws-client/attribute-value';
import { InvalidArgumentError } from '../../kernel/errors';
import { valueText } from '../../sharding/count-of-value';
import { keyValue } from '../../sharding/key-value';
import { type ShardedTableConfig, shardCountOf } from '../config/sharded-index-config';
import { shardAttributeValue, storedPlace } from '../config/stored-place';
import { plainItem } from '../query/plain-item';
import { shardKeys } from '../write/shard-key';
import type { Stray, StrayReason } from './stray';

/** The attributes that determine whether an item of a table that is sharded by its own key is a stray. */
export function keyStrayAttributes({ tableKey, valueAttribute, shardedBy }: ShardedTableConfig): string[] {
  return [...new Set([...tableKey, valueAttribute, ...shardedBy])];
}

/**
 * Checks an item of a table that is sharded by its own key. Returns the stray, or undefined if the item is at its
 * place. The value of the item is the value in its partition key, because the key identifies the item.
 */
export function keyStrayOf(config: ShardedTableConfig, item: DynamoDbItem): Stray | undefined {
  const { tableKey, shardAttribute, valueAttribute, strategy } = config;
  const stored = item[shardAttribute] as { S: string };
  const found = (reason: StrayReason, place: { value?: AttributeValue; expected?: AttributeValue } = {}): Stray => ({
    key: attributesOf(item, tableKey),
    reason,
    hidden: reason !== 'misplaced' && reason !== 'invalidValue',
    stored,
    ...place,
  });
  const place = storedPlace(config, stored.S);
  if (place === undefined || place.shard < 0) return found('malformed');
  const { value: text, shard } = place;
  const ofValue = { value: { S: text } };
  const value = valueAttribute === shardAttribute ? text : keyValue(attributeOf(plainItem(item), valueAttribute));
  if (value === undefined || valueText(value) !== text) return found('otherValue', ofValue);
  const { write, read } = shardCountOf(config, value);
  if (strategy === 'random') {
    if (shard < write) return undefined;
    return found(shard < read ? 'misplaced' : 'outOfRange', ofValue);
  }
  const expected = placeOfWriters(config, value, item);
  if (expected === undefined) return found('invalidValue', ofValue);
  if (expected === shardAttributeValue(config, value, shard)) return undefined;
  return found(shard < read ? 'misplaced' : 'outOfRange', { ...ofValue, expected: { S: expected } });
}

/**
 * The partition key that a writer would give the item. Undefined if an attribute that decides the shard is missing or
 * cannot be a key.
 */
function placeOfWriters(config: ShardedTableConfig, value: string | number, item: DynamoDbItem): string | undefined {
  try {
    return shardKeys(config, value, plainItem(item))[0]![config.shardAttribute] as string;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return undefined;
    throw error;
  }
}
