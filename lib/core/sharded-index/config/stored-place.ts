import { InvalidArgumentError } from '../../kernel/errors';
import { valueText } from '../../sharding/count-of-value';
import { besideValue, SHARD_SEPARATOR, shardDigits } from '../../sharding/shard-format';
import { isTableConfig, type ShardedConfig, type ShardedTableConfig, shardCountOf } from './sharded-index-config';

/** The value and the shard in the text of a partition key. */
interface StoredPlace {
  value: string;
  /**
   * The 0-based shard: the number in the key minus `firstShard`. Negative if that number is smaller than `firstShard`.
   */
  shard: number;
}

/** Whether one attribute holds the value and the shard. Otherwise a separate attribute holds the shard as a number. */
export function isBesideValue({ keyLayout, valueAttribute }: ShardedConfig): boolean {
  return keyLayout === 'single-attribute' && valueAttribute !== undefined;
}

/** The content of the shard attribute for one shard of a value. */
export function shardAttributeValue(
  config: ShardedConfig,
  value: string | number | undefined,
  shard: number,
): string | number {
  const { firstShard = 0 } = config;
  return isBesideValue(config) ? besideValue(config, valueText(value!), firstShard + shard) : firstShard + shard;
}

/** Parses a partition key. Undefined for a text that no writer generates. */
export function storedPlace(config: ShardedConfig, text: string): StoredPlace | undefined {
  const { firstShard = 0, separator = SHARD_SEPARATOR, shardPlacement } = config;
  const isPrefix = shardPlacement === 'prefix';
  const at = isPrefix ? text.indexOf(separator) : text.lastIndexOf(separator);
  if (at === -1) return undefined;
  const [before, after] = [text.slice(0, at), text.slice(at + separator.length)];
  const [value, digits] = isPrefix ? [after, before] : [before, after];
  const isWritten = /^\d{1,16}$/.test(digits) && shardDigits(config, Number(digits)) === digits;
  const isValue = value !== '' && !(isTableConfig(config) && value.includes(separator));
  return isWritten && isValue ? { value, shard: Number(digits) - firstShard } : undefined;
}

/** @throws InvalidArgumentError if the key of an item does not contain a shard that readers query */
export function placeIn(config: ShardedTableConfig, field: string, key: object): StoredPlace {
  const { shardAttribute, firstShard } = config;
  const given = Object(key)[shardAttribute];
  const place = typeof given === 'string' ? storedPlace(config, given) : undefined;
  const { read } = shardCountOf(config, place?.value);
  if (place !== undefined && place.shard >= 0 && place.shard < read) return place;
  const example = JSON.stringify(shardAttributeValue(config, 'value', 0));
  const allowed = `a value and a shard from ${firstShard} to ${firstShard + read - 1}, such as ${example} (use a key from shardKey or from an item that was read)`;
  throw new InvalidArgumentError(`${field}.${shardAttribute}`, given, allowed);
}
