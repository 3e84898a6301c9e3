import type { ShardedIndexConfig } from '../../../../lib/core';

/** An index by time over a whole table, in so many shards. */
export function timeIndex(shards: number): ShardedIndexConfig {
  return {
    tableName: 'Table',
    indexName: 'byTime',
    tableKey: ['id'],
    keyLayout: 'multi-attribute',
    shardAttribute: 'shard',
    sortKeyAttributes: ['at'],
    shards: { default: { write: shards, read: shards } },
    strategy: 'random',
  };
}
