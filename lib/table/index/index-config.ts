import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import type { BaseShardedIndexOptions } from './base-sharded-index-options';
import { KeyLayout } from './key-layout';
import { ShardingStrategy } from './sharding-strategy';

/** What functions and applications read of an index, its defaults filled in. */
export function indexConfig(
  tableName: string,
  tableKey: string[],
  options: BaseShardedIndexOptions,
  countTableName?: string,
): ShardedIndexConfig {
  const sortKeys = [...(options.sortKey ? [options.sortKey] : []), ...(options.tieBreakers ?? [])];
  const { _maximum: maximum } = options.shardCounts;
  return {
    // Readers that know nothing of adaptive counts refuse version 2.
    ...(maximum !== undefined && { version: 2 as const }),
    tableName,
    indexName: options.indexName,
    tableKey,
    keyLayout: `${options.keyLayout ?? KeyLayout.MULTI_ATTRIBUTE}` as const,
    valueAttribute: options.valueAttribute?.name,
    shardAttribute: options.shardAttribute ?? `${options.indexName}Shard`,
    sortKeyAttributes: sortKeys.map(({ name }) => name),
    shards: options.shardCounts._config,
    strategy: `${options.strategy ?? ShardingStrategy.CALCULATED}` as const,
    ...(maximum !== undefined && { adaptive: { tableName: countTableName ?? '', maximum } }),
  };
}
