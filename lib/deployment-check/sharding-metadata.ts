import type { CfnResource } from 'aws-cdk-lib';
import { checkFormat } from '../core/kernel/format-version';
import { calculatedFromColumns, type ShardedKeyspacesConfig } from '../core/keyspaces/sharded-keyspaces-config';
import type { ShardedIndexConfig, ShardedTableConfig } from '../core/sharded-index/config/sharded-index-config';

/** The metadata key for the format version of all metadata below. Metadata without this key has version 1. */
const FORMAT = 'EvenShards::Format';

/** The metadata key for the sharding of a table's indexes. */
export const SHARDED_INDEXES = 'EvenShards::ShardedIndexes';

/** An index, and its table of adaptive counts: the name of the table, or its construct path if the name is a token. */
export interface DescribedIndex {
  readonly config: ShardedIndexConfig;
  readonly countTable?: string;
}

/** The metadata of an index. */
export interface IndexMetadata
  extends Omit<ShardedIndexConfig, 'version' | 'tableName' | 'tableKey' | 'indexName' | 'adaptive'> {
  readonly adaptive?: { readonly maximum: number; readonly countTable?: string };
}

/**
 * Adds the sharding of a table's indexes to the metadata of the table. Without this metadata, only the environment
 * variables of readers and writers would contain the shard counts, and `cdk diff` would not show a changed count at
 * the table.
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

/** The metadata key for the names of a table's indexes that an `IndexKeeper` keeps. */
export const KEPT_INDEXES = 'EvenShards::KeptIndexes';

/** Adds the names of the indexes that a keeper keeps to the metadata of their table. A table can have several keepers. */
export function describeKeptIndexes(table: CfnResource, indexNames: readonly string[]): void {
  const kept: readonly string[] = table.getMetadata(KEPT_INDEXES) ?? [];
  table.addMetadata(KEPT_INDEXES, [...new Set([...kept, ...indexNames])].sort());
}

/** The metadata key for a table that is sharded by its own key. */
export const KEY_SHARDING = 'EvenShards::KeySharding';

/** The metadata of a table that is sharded by its own key. */
export type KeyShardingMetadata = Omit<ShardedTableConfig, 'tableName' | 'tableKey'>;

/** Adds the sharding of a table's own key to its metadata, so that `cdk diff` shows a changed count at the table. */
export function describeKeySharding(table: CfnResource, config: ShardedTableConfig): void {
  const { tableName: _, tableKey: __, ...sharding } = config;
  table.addMetadata(KEY_SHARDING, sharding);
}

/** The metadata key for the sharding of an Amazon Keyspaces table. */
export const KEYSPACES_SHARDING = 'EvenShards::KeyspacesSharding';

/** The metadata of an Amazon Keyspaces table: the sharding settings that its properties do not contain. */
export type KeyspacesMetadata = Pick<ShardedKeyspacesConfig, 'shards' | 'firstShard' | 'strategy'> & {
  readonly calculatedFrom: string[];
};

/**
 * Adds the sharding of an Amazon Keyspaces table to its metadata, so that `cdk diff` shows a changed count at the
 * table.
 */
export function describeKeyspacesSharding(table: CfnResource, config: ShardedKeyspacesConfig): void {
  const { shards, firstShard, strategy } = config;
  const calculatedFrom = strategy === 'random' ? [] : calculatedFromColumns(config).map(({ name }) => name);
  table.addMetadata(KEYSPACES_SHARDING, { shards, firstShard, strategy, calculatedFrom } satisfies KeyspacesMetadata);
}

/**
 * Reads a key of a resource's metadata.
 *
 * @throws NewerFormatError if a later release wrote the metadata in a format that this release cannot read
 */
export function shardingMetadata<M>(metadata: object | undefined, key: string): M | undefined {
  const { [FORMAT]: mark, [key]: found } = Object(metadata);
  if (found !== undefined) checkFormat('sharding metadata', mark);
  return found;
}
