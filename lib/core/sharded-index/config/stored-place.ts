import { InvalidArgumentError } from '../../foundation/errors';
import { type ShardedTableConfig, shardCountOf } from './sharded-index-config';

/** What a partition key of a table that is sharded by its own key says. */
export interface StoredPlace {
  /** The text of the value. */
  value: string;
  /** The shard, 0-based, whatever the number of the first one is. */
  shard: number;
}

const WHOLE_NUMBER = /^(?:0|[1-9]\d*)$/;

/** The value and the shard in a partition key. Undefined for a text that no writer puts there. */
export function storedPlace({ separator, firstShard }: ShardedTableConfig, text: string): StoredPlace | undefined {
  const end = text.lastIndexOf(separator);
  const value = text.slice(0, Math.max(end, 0));
  const digits = text.slice(end + separator.length);
  const shard = WHOLE_NUMBER.test(digits) ? Number(digits) - firstShard : -1;
  return value === '' || value.includes(separator) || shard < 0 ? undefined : { value, shard };
}

/** @throws InvalidArgumentError unless the key of an item names a shard that readers ask */
export function placeIn(config: ShardedTableConfig, field: string, key: object): StoredPlace {
  const { shardAttribute, separator, firstShard } = config;
  const given = Object(key)[shardAttribute];
  const place = typeof given === 'string' ? storedPlace(config, given) : undefined;
  const { read } = shardCountOf(config, place?.value);
  if (place !== undefined && place.shard < read) return place;
  const range = `${firstShard} to ${firstShard + read - 1}`;
  const allowed = `a value, ${JSON.stringify(separator)} and a shard from ${range}, as shardKey and items that were read have it`;
  throw new InvalidArgumentError(`${field}.${shardAttribute}`, given, allowed);
}
