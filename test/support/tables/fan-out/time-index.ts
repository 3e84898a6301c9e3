import type { ShardedIndexConfig } from '../../../../lib/core';
import { indexConfig } from '../../index-config';

/** An index of a whole table, sorted by time, with this number of shards. */
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
