import type { ShardedKeyspacesConfig } from '../../lib/core';

/** The configuration of a sharded table of Amazon Keyspaces, as a test needs one: of blogs by day, with what the test says otherwise. */
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
