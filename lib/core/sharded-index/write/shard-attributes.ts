import { InvalidArgumentError } from '../../kernel/errors';
import { calculatedShard } from '../../sharding/calculated-shard';
import { randomShard } from '../../sharding/random-shard';
import { attributeOf } from '../config/attribute-of';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { checkSeparator } from '../query/fan-out-request';
import { itemText, keyValue } from '../query/item-text';
import { checkSortKey } from './missing-sort-key';

/**
 * The attributes that a writer adds to an item so that the item appears in a sharded index, or stands in its shard of a
 * table. They are plain JavaScript values. Use it for every item that you put; for updates, use `shardUpdate`.
 *
 *     await documents.put({ TableName, Item: { ...item, ...shardAttributes(config, item) } });
 *
 * An index by value does not contain an item without the value attribute. For such an item the result is empty. An index also does
 * not contain an item without its sort key. Such an item is rejected, unless the configuration has `sparse: true`.
 *
 * An item of a table that is sharded by its own key must have a value. As long as the counts of the table change, put with
 * `transactPut`, which also finds the item where an earlier count has put it.
 *
 * @param item the whole item as plain JavaScript values; it must hold the value attribute and the sort key to appear in an index by
 *   value, and the attributes that decide the shard if the strategy is `calculated`: the table key of an index, `shardedBy` of a table
 * @throws InvalidIndexValueError if the value is neither a non-empty string nor a finite number, or contains the separator, or if an
 *   attribute of the sort key of an index is missing, empty or of a type that no key has
 * @throws InvalidArgumentError if an attribute that decides the shard is missing
 */
export function shardAttributes(config: ShardedConfig, item: object): Record<string, unknown> {
  const added = shardAttributesOfUpdate(config, item);
  if (!isTableConfig(config) && Object.keys(added).length > 0) checkSortKey(config, item as Record<string, unknown>);
  return added;
}

/**
 * The attributes that an update adds if it sets the value of an index. Use it with a mapper that builds its own update expressions;
 * elsewhere, use `shardUpdate`. Unlike `shardAttributes`, it does not need the sort key of an index, because an update does not see the
 * whole item.
 *
 * @param item the table key and the new value, as plain JavaScript values; it may hold further attributes
 * @throws what `shardAttributes` throws, except for the sort key of an index
 */
export function shardAttributesOfUpdate(config: ShardedConfig, item: object): Record<string, unknown> {
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
