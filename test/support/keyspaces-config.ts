import type { ShardedKeyspacesConfig } from '../../lib/core';

/** The configuration of a sharded table of Amazon Keyspaces with blogs by day, with the changes of the test. */
export function keyspacesConfig(changes: Partial<ShardedKeyspacesConfig> = {}): ShardedKeyspacesConfig {
  return {
    keyspaceName: 'tracker',
    tableName: 'blogs',
    partitionKey: [{ name: 'day', type: 'text' }],
    shardColumn: 'shard',
    firstShard: 1,
    clusteringColumns: [{ name: 'id', type: 'int', order: 'ASC' }],
    columns: ['body'],
    shards: { default: { write: 1, read: 1 } },
    strategy: 'calculated',
    ...changes,
  };
}
