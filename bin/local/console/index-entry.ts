import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { isBesideValue, storedPlace } from '../../../lib/core/sharded-index/config/stored-place';

/**
 * The value and the shard in a partition key of a sharded index, or of a table that is sharded by its own key.
 */
export interface IndexEntry {
  /** The value. Empty if the index covers the whole table. */
  readonly value: string;
  /** The number of the shard, counted from 0. */
  readonly shard: number;
}

/** The attributes of the partition key. */
export function partitionOf(config: ShardedConfig): string[] {
  if (config.indexName === undefined) return config.tableKey.slice(0, 1);
  const hasValue = config.keyLayout === 'multi-attribute' && config.valueAttribute !== undefined;
  return [...(hasValue ? [config.valueAttribute!] : []), config.shardAttribute];
}

/**
 * Parses the value and the shard of a partition key. If the partition key has several attributes, `key` contains their
 * values, separated by spaces.
 */
export function entryOf(config: ShardedConfig, key: string): IndexEntry {
  const { firstShard = 0 } = config;
  if (config.valueAttribute === undefined) return { value: '', shard: Number(key) - firstShard };
  const place = isBesideValue(config) ? storedPlace(config, key) : pairOf(key, firstShard);
  return place !== undefined && place.shard >= 0 ? place : { value: key, shard: 0 };
}

function pairOf(key: string, firstShard: number): IndexEntry | undefined {
  const at = key.lastIndexOf(' ');
  const shard = Number(key.slice(at + 1)) - firstShard;
  return at > 0 && Number.isInteger(shard) ? { value: key.slice(0, at), shard } : undefined;
}
