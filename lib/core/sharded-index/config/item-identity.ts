import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { isTableConfig, type ShardedConfig, type ShardedTableConfig } from './sharded-index-config';
import { storedPlace } from './stored-place';

/**
 * A text for each item that two items of one table share only if they are the same item. In a table that is sharded by its
 * own key, an item that moves to another shard changes its key but stays the same item.
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

/** The attributes that, with the value, tell the items of a table from one another, whatever their shard. */
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
