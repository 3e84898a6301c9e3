import { calculatedShard } from '../foundation/calculated-shard';
import { plainDecimal } from '../foundation/decimal';
import { InvalidArgumentError } from '../foundation/errors';
import { randomShard } from '../foundation/random-shard';
import {
  checkShardedIndexConfig,
  SHARD_SEPARATOR,
  type ShardedIndexConfig,
  shardAttributeValue,
  shardCountOf,
} from './sharded-index-config';
import { InvalidIndexValueError } from './sharded-index-errors';

/**
 * The attributes that a writer adds to an item so that the item appears in a sharded index. They are plain JavaScript
 * values. Use it for every item that you put; for updates, use `shardUpdate`.
 *
 *     await documents.put({ TableName, Item: { ...item, ...shardAttributes(config, item) } });
 *
 * An item without the index's value attribute is not part of the index, because the index is sparse. For such an item
 * the result is empty.
 *
 * @param item the item as plain JavaScript values; it must hold the value attribute to appear in an index by value, and
 *   the table key if the strategy is `calculated`
 * @throws InvalidIndexValueError if the value is neither a non-empty string nor a finite number
 * @throws InvalidArgumentError if the strategy is `calculated` and an attribute of the table key is missing
 */
export function shardAttributes(config: ShardedIndexConfig, item: object): Record<string, unknown> {
  checkShardedIndexConfig(config);
  if (typeof item !== 'object' || item === null) throw new InvalidArgumentError('item', item, 'an object');
  const attributes = item as Record<string, unknown>;
  const value = indexValue(config, attributes);
  if (config.valueAttribute !== undefined && value === undefined) return {};
  const { write } = shardCountOf(config, value);
  const shard =
    config.strategy === 'random' ? randomShard(write) : calculatedShard(tableKeyText(config, attributes), write);
  return { [config.shardAttribute]: shardAttributeValue(config, value, shard) };
}

function indexValue(config: ShardedIndexConfig, item: Record<string, unknown>): string | number | undefined {
  if (config.valueAttribute === undefined) return undefined;
  const value = item[config.valueAttribute];
  if (value === undefined) return undefined;
  if ((typeof value === 'string' && value !== '') || (typeof value === 'number' && Number.isFinite(value)))
    return value;
  throw new InvalidIndexValueError(
    `item.${config.valueAttribute}`,
    value,
    'a non-empty string, a finite number, or absent to leave the item out of the index',
  );
}

/**
 * The text that `calculatedShard` hashes: the values of the table key, joined by "#" if there are two. A number becomes
 * decimal digits without an exponent, and binary becomes base64.
 */
function tableKeyText(config: ShardedIndexConfig, item: Record<string, unknown>): string {
  return config.tableKey
    .map((attribute) => {
      const value = item[attribute];
      if (typeof value === 'string') return value;
      if (typeof value === 'bigint') return String(value);
      if (typeof value === 'number' && Number.isFinite(value)) return plainDecimal(String(value));
      if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
      throw new InvalidArgumentError(
        `item.${attribute}`,
        value,
        'a string, a finite number or binary because the table key decides the calculated shard',
      );
    })
    .join(SHARD_SEPARATOR);
}
