import type {
  IndexShards,
  ShardedConfig,
  ShardedIndexConfig,
} from '../../lib/core/sharded-index/config/sharded-index-config';
import {
  type IndexMetadata,
  KEY_SHARDING,
  type KeyShardingMetadata,
  SHARDED_INDEXES,
} from '../../lib/deployed/sharding-metadata';
import { listOf, type Properties, type Resource } from '../../lib/deployed/template';
import { type DeployedStack, pathOf } from './deployed-stack';
import { STREAM_TYPE, TABLE_TYPES } from './resource-state';

/** A stream or a table of a stack, as its template and its deployment have it. */
export interface DeployedResource {
  /** The construct path, such as `Orders/Events`. */
  readonly path: string;
  /** The name that AWS knows it by. */
  readonly name: string;
  readonly properties: Properties;
}

/** An index that is sharded, or a table that is sharded by its own key, with what a reader and a writer must know. */
export interface DeployedSharding {
  /** The path of the table, and of an index its name: `Orders/Table/byStatus`. */
  readonly path: string;
  readonly config: ShardedConfig;
}

export interface StackResources {
  readonly streams: readonly DeployedResource[];
  readonly tables: readonly DeployedResource[];
  readonly shardings: readonly DeployedSharding[];
}

/** The streams, tables and sharded indexes of stacks. */
export function stackResources(stacks: readonly DeployedStack[]): StackResources {
  const found = stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources ?? {}).flatMap(([logicalId, resource]) => {
      const name = stack.physicalNames.get(logicalId);
      return name === undefined ? [] : [{ resource, name, path: pathOf(stack, logicalId) }];
    }),
  );
  const deployed = ({ resource, name, path }: (typeof found)[number]): DeployedResource => ({
    path,
    name,
    properties: resource.Properties ?? {},
  });
  const tables = found.filter(({ resource }) => TABLE_TYPES.includes(resource.Type));
  const tableNames = new Map(tables.map(({ path, name }) => [path, name]));
  return {
    streams: found.filter(({ resource }) => resource.Type === STREAM_TYPE).map(deployed),
    tables: tables.map(deployed),
    shardings: tables.flatMap(({ resource, name, path }) => shardingsOf(resource, name, path, tableNames)),
  };
}

/** What the metadata of a table says of it, with the names that only the deployment knows. */
function shardingsOf(
  { Metadata = {}, Properties = {} }: Resource,
  tableName: string,
  path: string,
  tableNames: ReadonlyMap<string, string>,
): DeployedSharding[] {
  const tableKey = listOf<{ AttributeName: string }>(Properties.KeySchema).map(({ AttributeName }) => AttributeName);
  const indexes = Object.entries((Metadata[SHARDED_INDEXES] ?? {}) as Record<string, IndexMetadata>);
  const ofTable = Metadata[KEY_SHARDING] as KeyShardingMetadata | undefined;
  return [
    ...indexes
      .filter(([, { shards }]) => hasNumbers(shards))
      .map(([indexName, { adaptive, ...sharding }]): DeployedSharding => {
        const { countTable = '', maximum = 0 } = adaptive ?? {};
        const config: ShardedIndexConfig = {
          ...sharding,
          tableName,
          tableKey,
          indexName,
          ...(adaptive && { version: 2, adaptive: { tableName: tableNames.get(countTable) ?? countTable, maximum } }),
        };
        return { path: `${path}/${indexName}`, config };
      }),
    ...(ofTable !== undefined && hasNumbers(ofTable.shards)
      ? [{ path, config: { ...ofTable, tableName, tableKey } }]
      : []),
  ];
}

/** A count that only the deployment knows is an object in a template. */
function hasNumbers({ default: others, byValue = {} }: IndexShards): boolean {
  return [others, ...Object.values(byValue)].every(({ write, read }) =>
    [write, read].every((count) => typeof count === 'number'),
  );
}
