import { calculatedShard } from '../../foundation/calculated-shard';
import { InvalidArgumentError } from '../../foundation/errors';
import { randomShard } from '../../foundation/random-shard';
import { attributeOf } from '../config/attribute-of';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { checkSeparator } from '../query/fan-out-request';
import { itemText, keyValue } from '../query/item-text';

/**
 * The attributes that a writer adds to an item so that the item appears in a sharded index, or stands in its shard of a
 * table. They are plain JavaScript values. Use it for every item that you put; for updates, use `shardUpdate`.
 *
 *     await documents.put({ TableName, Item: { ...item, ...shardAttributes(config, item) } });
 *
 * An item without the index's value attribute is not part of the index, because the index is sparse. For such an item
 * the result is empty. An item of a table that is sharded by its own key must have a value. As long as the counts of the
 * table change, put with `transactPut`, which also finds the item where an earlier count has put it.
 *
 * @param item the item as plain JavaScript values; it must hold the value attribute to appear in an index by value, and
 *   the attributes that decide the shard if the strategy is `calculated`: the table key of an index, `shardedBy` of a table
 * @throws InvalidIndexValueError if the value is neither a non-empty string nor a finite number, or contains the separator
 * @throws InvalidArgumentError if an attribute that decides the shard is missing
 */
export function shardAttributes(config: ShardedConfig, item: object): Record<string, unknown> {
  checkShardedConfig(config);
  if (typeof item !== 'object' || item === null) throw new InvalidArgumentError('item', item, 'an object');
  const attributes = item as Record<string, unknown>;
  const value = itemValue(config, attributes);
  if (config.valueAttribute !== undefined && value === undefined) return {};
  const { write } = shardCountOf(config, value);
  const shard =
    config.strategy === 'random'
      ? randomShard(write)
      : calculatedShard(itemText(shardingAttributes(config), attributes), write);
  return { [config.shardAttribute]: shardAttributeValue(config, value, shard) };
}

/** The attributes that decide the calculated shard of an item. */
export function shardingAttributes(config: ShardedConfig): string[] {
  return isTableConfig(config) ? config.shardedBy : config.tableKey;
}

/** The value of an item. Undefined if the item is not part of the index, or if the index has no value. */
function itemValue(config: ShardedConfig, item: Record<string, unknown>): string | number | undefined {
  const { valueAttribute } = config;
  if (valueAttribute === undefined) return undefined;
  const given = attributeOf(item, valueAttribute);
  if (given === undefined && !isTableConfig(config)) return undefined;
  return checkedValue(config, `item.${valueAttribute}`, given);
}

/** @throws InvalidIndexValueError for something that cannot be a value of the index or the table */
export function checkedValue(config: ShardedConfig, field: string, given: unknown): string | number {
  const value = keyValue(given);
  if (value === undefined) {
    const allowed = isTableConfig(config)
      ? 'a non-empty string or a finite number'
      : 'a non-empty string, a finite number, or absent to leave the item out of the index';
    throw new InvalidIndexValueError(field, given, allowed);
  }
  if (isTableConfig(config)) checkSeparator(config, field, value);
  return value;
}
