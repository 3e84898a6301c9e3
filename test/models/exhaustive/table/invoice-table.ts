import type { IndexShards, ShardedTableConfig } from '../../../../lib/core';
import { calculatedShards } from '../../../../lib/core/sharding/calculated-shard';

/** A table that is sharded by its own key. */
export function invoiceTable(shards: IndexShards): ShardedTableConfig {
  return {
    tableName: 'Invoices',
    tableKey: ['pk', 'sk'],
    keyLayout: 'single-attribute',
    valueAttribute: 'invoice',
    shardAttribute: 'pk',
    sortKeyAttributes: ['sk'],
    shardedBy: ['sk'],
    separator: '-',
    firstShard: 1,
    shards,
    strategy: 'calculated',
  };
}

/** Returns sort keys of items that have a different place with each of the two counts. */
export function idsWithTwoPlaces(from: number, to: number, count: number): string[] {
  const ids: string[] = [];
  for (let number = 0; ids.length < count; number++) {
    const id = `t${number}`;
    if (calculatedShards(id, Math.min(from, to), Math.max(from, to)).length > 1) ids.push(id);
  }
  return ids;
}
