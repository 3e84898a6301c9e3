import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { isTableConfig, type ShardedConfig, type ShardedTableConfig } from './sharded-index-config';
import { storedPlace } from './stored-place';

/**
 * Returns a function that computes a text for each item. Different items have different texts. In a table that is sharded by
 * its own key, the text of an item stays the same when the item moves to another shard, although its key changes.
 */
export function itemIdentity(config: ShardedConfig): (item: DynamoDbItem) => string {
  if (!isTableConfig(config) || config.strategy === 'random') return (item) => identityOf(config.tableKey, item);
  const attributes = identityAttributes(config);
  return (item) => `${valueInKey(config, item)}${config.separator}${identityOf(attributes, item)}`;
}

/** The value in the partition key of an item. */
export function valueInKey(config: ShardedTableConfig, item: DynamoDbItem): string {
  const key = keyText(item[config.shardAttribute]);
  return storedPlace(config, key)?.value ?? key;
}

/** The attributes that, together with the value, identify an item of a table. The shard is not part of the identity. */
export function identityAttributes({ tableKey, shardedBy }: ShardedTableConfig): string[] {
  return [...new Set([tableKey[1]!, ...shardedBy])];
}

function identityOf(attributes: readonly string[], item: DynamoDbItem): string {
  const texts = attributes.map((attribute) => keyText(item[attribute]));
  return texts.map((text) => `${text.length}:${text}`).join('');
}

/** DynamoDB returns each number in one notation, so equal numbers are equal texts. */
function keyText(value: AttributeValue | undefined): string {
  if (value === undefined) return '';
  if ('S' in value) return value.S;
  if ('N' in value) return value.N;
  return 'B' in value ? Buffer.from(value.B).toString('latin1') : '';
}
