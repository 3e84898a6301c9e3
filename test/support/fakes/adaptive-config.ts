import type { ShardedIndexConfig } from '../../../lib/core';

/** An index by status whose counts grow. */
export const adaptiveConfig: ShardedIndexConfig = {
  version: 2,
  tableName: 'orders',
  indexName: 'byStatus',
  tableKey: ['orderId'],
  keyLayout: 'single-attribute',
  valueAttribute: 'status',
  shardAttribute: 'byStatusShard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: { write: 1, read: 1 } },
  adaptive: { tableName: 'counts', maximum: 64 },
  strategy: 'calculated',
};
