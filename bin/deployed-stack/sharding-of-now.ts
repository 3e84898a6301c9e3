import type { DynamoDB, TableDescription } from '@aws-sdk/client-dynamodb';
import { AdaptiveIndex } from '../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import type { ShardedConfig, ShardedConfigSource } from '../../lib/core/sharded-index/config/sharded-index-config';
import { tableState } from './resource-state';

/** The current sharding of a table. A local run can give an index another key layout than its template. */
export interface ShardingOfNow {
  readonly config: ShardedConfig;
  /** The configuration for readers. For adaptive counts, a source of the current configuration. */
  readonly source: ShardedConfig | ShardedConfigSource;
  /** The current configuration for writers. */
  forWriting(): Promise<ShardedConfig>;
  /** The type of a key attribute in DynamoDB: `S`, `N` or `B`. Undefined if the attribute is not in a key. */
  typeOf(attribute: string): string | undefined;
}

export async function shardingOfNow(dynamodb: DynamoDB, declared: ShardedConfig): Promise<ShardingOfNow> {
  const { table } = await tableState({ dynamodb }, declared.tableName);
  const config = inLayoutOf(table, declared);
  const typeOf = (attribute: string) =>
    table?.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === attribute)?.AttributeType;
  if (config.indexName === undefined || config.adaptive === undefined) {
    return { config, source: config, forWriting: async () => config, typeOf };
  }
  const index = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamodb, config));
  return { config, source: index, forWriting: () => index.forWriting(), typeOf };
}

/** The tables that store the adaptive counts of a sharded index. Readers and writers of the index read these tables, too. */
export function countTablesOf({ indexName, ...config }: ShardedConfig): string[] {
  return indexName === undefined || !('adaptive' in config) || config.adaptive === undefined
    ? []
    : [config.adaptive.tableName];
}

function inLayoutOf(table: TableDescription | undefined, config: ShardedConfig): ShardedConfig {
  if (config.indexName === undefined || config.valueAttribute === undefined) return config;
  const index = table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === config.indexName);
  const partitionKeys = index?.KeySchema?.filter(({ KeyType }) => KeyType === 'HASH') ?? [];
  const isSingle = partitionKeys.length === 1 && config.keyLayout === 'multi-attribute';
  return isSingle ? { ...config, keyLayout: 'single-attribute' } : config;
}
