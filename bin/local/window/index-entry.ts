import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';

/** What a partition key of a sharded index, or of a table that is sharded by its own key, stands for. */
export interface IndexEntry {
  /** Empty where the index covers the whole table. */
  readonly value: string;
  /** Counted from 0. */
  readonly shard: number;
}

/** The attributes of the partition key. */
export function partitionOf(config: ShardedConfig): string[] {
  if (config.indexName === undefined) return config.tableKey.slice(0, 1);
  const hasValue = config.keyLayout === 'multi-attribute' && config.valueAttribute !== undefined;
  return [...(hasValue ? [config.valueAttribute!] : []), config.shardAttribute];
}

/** The value and the shard of a partition key, several attributes of which are joined by a space. */
export function entryOf(config: ShardedConfig, key: string): IndexEntry {
  if (config.valueAttribute === undefined) return { value: '', shard: Number(key) };
  const isTable = config.indexName === undefined;
  const separator = isTable ? config.separator : config.keyLayout === 'multi-attribute' ? ' ' : '#';
  const at = key.lastIndexOf(separator);
  const shard = Number(key.slice(at + separator.length)) - (isTable ? config.firstShard : 0);
  return at > 0 && Number.isInteger(shard) && shard >= 0
    ? { value: key.slice(0, at), shard }
    : { value: key, shard: 0 };
}
