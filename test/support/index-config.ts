import type { ShardedIndexConfig } from '../../lib/core';

/**
 * The configuration of a sharded index of jobs by status, with the changes of the test. An index of the whole table has
 * `valueAttribute: undefined`.
 */
export function indexConfig(changes: Partial<ShardedIndexConfig> = {}): ShardedIndexConfig {
  return {
    tableName: 'Jobs',
    indexName: 'byStatus',
    tableKey: ['jobId'],
    keyLayout: 'multi-attribute',
    valueAttribute: 'status',
    shardAttribute: 'shard',
    sortKeyAttributes: ['createdAt'],
    shards: { default: { write: 1, read: 1 } },
    strategy: 'calculated',
    ...changes,
  };
}
