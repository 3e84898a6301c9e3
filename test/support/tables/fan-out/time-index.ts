import type { ShardedIndexConfig } from '../../../../lib/core';
import { indexConfig } from '../../index-config';

/** An index by time over a whole table with this number of shards. */
export function timeIndex(shards: number): ShardedIndexConfig {
  return indexConfig({
    tableName: 'Table',
    indexName: 'byTime',
    tableKey: ['id'],
    sortKeyAttributes: ['at'],
    shards: { default: { write: shards, read: shards } },
    strategy: 'random',
    valueAttribute: undefined,
  });
}
