import type { ShardedIndexConfig } from '../core/sharded-index/sharded-index-config';
import { KeyLayout } from './key-layout';
import type { ShardedIndexOptions } from './sharded-index-options';
import { ShardingStrategy } from './sharding-strategy';

/** What functions and applications read of an index, its defaults filled in. */
export function indexConfig(tableName: string, tableKey: string[], options: ShardedIndexOptions): ShardedIndexConfig {
  const sortKeys = [...(options.sortKey ? [options.sortKey] : []), ...(options.tieBreakers ?? [])];
  return {
    tableName,
    indexName: options.indexName,
    tableKey,
    keyLayout: `${options.keyLayout ?? KeyLayout.MULTI_ATTRIBUTE}` as const,
    valueAttribute: options.value?.name,
    shardAttribute: options.shardAttribute ?? `${options.indexName}Shard`,
    sortKeyAttributes: sortKeys.map(({ name }) => name),
    shards: options.shards._config,
    strategy: `${options.strategy ?? ShardingStrategy.CALCULATED}` as const,
  };
}
