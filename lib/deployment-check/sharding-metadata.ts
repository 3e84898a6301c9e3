import type { CfnResource } from 'aws-cdk-lib';
import { calculatedFromColumns, type ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import type { ShardedIndexConfig, ShardedTableConfig } from '../core/sharded-index/config/sharded-index-config';

/** The key of the metadata of a table that says how its indexes are sharded. */
export const SHARDED_INDEXES = 'EvenShards::ShardedIndexes';

/** An index, and what its template calls the table of its counts: a name, or the path of a table that gets its name later. */
export interface DescribedIndex {
  readonly config: ShardedIndexConfig;
  readonly countTable?: string;
}

/** How the metadata of a table describes an index. */
export interface IndexMetadata
  extends Omit<ShardedIndexConfig, 'version' | 'tableName' | 'tableKey' | 'indexName' | 'adaptive'> {
  readonly adaptive?: { readonly maximum: number; readonly countTable?: string };
}

/**
 * Writes how its indexes are sharded into the metadata of a table. Only readers and writers need the shard counts: without
 * it, a change of them would leave the template of the table as it is, and `cdk diff` would show nothing.
 */
export function describeIndexes(table: CfnResource, indexes: readonly DescribedIndex[]): void {
  const byName = indexes.map(({ config, countTable }) => {
    const { version: _, tableName: __, tableKey: ___, indexName, adaptive, ...sharding } = config;
    return [
      indexName,
      { ...sharding, ...(adaptive && { adaptive: { maximum: adaptive.maximum, countTable } }) } satisfies IndexMetadata,
    ];
  });
  table.addMetadata(SHARDED_INDEXES, Object.fromEntries(byName));
}

/** The key of the metadata of a table that says how it is sharded by its own key. */
export const KEY_SHARDING = 'EvenShards::KeySharding';

/** How the metadata of a table describes its own key. */
export type KeyShardingMetadata = Omit<ShardedTableConfig, 'tableName' | 'tableKey'>;

/** Writes how a table is sharded by its own key into its metadata, for the same reason. */
export function describeKeySharding(table: CfnResource, config: ShardedTableConfig): void {
  const { tableName: _, tableKey: __, ...sharding } = config;
  table.addMetadata(KEY_SHARDING, sharding);
}

/** The key of the metadata of a table of Amazon Keyspaces that says how it is sharded. */
export const KEYSPACES_SHARDING = 'EvenShards::KeyspacesSharding';

/** How the metadata of a table of Amazon Keyspaces describes it: what none of its properties says. */
export type KeyspacesMetadata = Pick<ShardedKeyspacesConfig, 'shards' | 'firstShard' | 'strategy'> & {
  readonly calculatedFrom: string[];
};

/** Writes how a table of Amazon Keyspaces is sharded into its metadata, for the same reason. */
export function describeKeyspacesSharding(table: CfnResource, config: ShardedKeyspacesConfig): void {
  const { shards, firstShard, strategy } = config;
  const calculatedFrom = strategy === 'random' ? [] : calculatedFromColumns(config).map(({ name }) => name);
  table.addMetadata(KEYSPACES_SHARDING, { shards, firstShard, strategy, calculatedFrom } satisfies KeyspacesMetadata);
}
