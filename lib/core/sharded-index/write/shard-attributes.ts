import { attributeOf } from '../../aws-client/attribute-value';
import { checkFields } from '../../kernel/checks';
import { calculatedShard } from '../../sharding/calculated-shard';
import { keyValue } from '../../sharding/key-value';
import { randomShard } from '../../sharding/random-shard';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexValueError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { checkSeparator } from '../query/fan-out-request';
import { itemText } from '../query/item-text';
import { checkSortKey } from './missing-sort-key';

/**
 * Computes the attributes that a writer adds to an item: the shard attribute of a sharded index, or of a table that is sharded
 * by its own key. The attributes are plain JavaScript values. Use this function for every item that you put. For updates, use
 * `shardUpdate`.
 *
 *     await documents.put({ TableName, Item: { ...item, ...shardAttributes(config, item) } });
 *
 * If an item has no value attribute, an index with a value attribute does not contain the item, and the result is empty. If an
 * item lacks the sort key of the index, the item is rejected, unless the configuration has `sparse: true`.
 *
 * An item of a table that is sharded by its own key must have a value. While the counts of the table change, use `transactPut`
 * instead, which also handles the places of earlier counts.
 *
 * @param item the whole item as plain JavaScript values. In an index with a value attribute, the item needs the value attribute
 *   and the sort key. With the strategy `calculated`, the item also needs the attributes that decide the shard: the table key
 *   for an index, `shardedBy` for a table
 * @throws InvalidIndexValueError if the value is not a non-empty string or a finite number, or contains the separator
 * @throws InvalidIndexValueError if a sort key attribute of an index is missing, empty or of a type that cannot be a key
 * @throws InvalidArgumentError if an attribute that decides the shard is missing
 */
export function shardAttributes(config: ShardedConfig, item: object): Record<string, unknown> {
  const added = shardAttributesOfUpdate(config, item);
  if (!isTableConfig(config) && Object.keys(added).length > 0) checkSortKey(config, item as Record<string, unknown>);
  return added;
}

/**
 * Computes the attributes that an update adds if it sets the value of an index. Use this function with an object mapper that
 * builds its own update expressions; otherwise use `shardUpdate`. Unlike `shardAttributes`, this function does not check the
 * sort key of an index, because the caller of an update does not have the whole item.
 *
 * @param item the table key and the new value, as plain JavaScript values; the item may have further attributes
 * @throws the errors of `shardAttributes`, except the error for a missing sort key
 */
export function shardAttributesOfUpdate(config: ShardedConfig, item: object): Record<string, unknown> {
  checkShardedConfig(config);
  checkFields('item', item);
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

/** The value of an item. Undefined if the item does not belong in the index, or if the index has no value attribute. */
function itemValue(config: ShardedConfig, item: Record<string, unknown>): string | number | undefined {
  const { valueAttribute } = config;
  if (valueAttribute === undefined) return undefined;
  const given = attributeOf(item, valueAttribute);
  if (given === undefined && !isTableConfig(config)) return undefined;
  return checkedValue(config, `item.${valueAttribute}`, given);
}

/** @throws InvalidIndexValueError if the index or the table cannot have this value */
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
