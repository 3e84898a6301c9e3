import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { AdaptiveIndex } from '../../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { findStrays } from '../../../lib/core/sharded-index/strays/find-strays';
import type { StrayReport } from '../../../lib/core/sharded-index/strays/stray-report';
import { partitionKeyOf } from '../limits/table-shapes';
import type { LocalStack } from '../run-local';
import { entryOf, partitionOf } from './index-entry';

/** The items that are in an index now. The other views count only the writes since the start. */
export interface StoredItems {
  /** The value with the most items first. */
  readonly values: readonly { readonly value: string; readonly itemsOfShards: Readonly<Record<number, number>> }[];
  readonly strays: StrayReport['strays'];
  /** The number of items that a query for their value does not find. */
  readonly hidden: number;
}

/**
 * Counts the items of an index or a table by value and shard, and looks for strays in the table. Reads the whole index
 * and the whole table.
 */
export async function storedItems({ ungatedClients }: LocalStack, config: ShardedConfig): Promise<StoredItems> {
  const { dynamodb } = ungatedClients;
  const [values, { strays, hidden }] = await Promise.all([
    itemsByValue(dynamodb, config),
    findStrays(dynamodb, await withCountsOfNow(dynamodb, config)),
  ]);
  return { values, strays, hidden };
}

async function withCountsOfNow(dynamodb: DynamoDB, config: ShardedConfig): Promise<ShardedConfig> {
  if (config.indexName === undefined || config.adaptive === undefined) return config;
  return new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamodb, config)).forReading();
}

async function itemsByValue(dynamodb: DynamoDB, config: ShardedConfig): Promise<StoredItems['values']> {
  const values = new Map<string, Record<number, number>>();
  const partition = partitionOf(config);
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    const { tableName: TableName, indexName: IndexName } = config;
    const page = await dynamodb.scan({ TableName, IndexName, ExclusiveStartKey });
    for (const item of page.Items ?? []) {
      const key = partitionKeyOf(partition, item);
      if (key === undefined) continue;
      const { value, shard } = entryOf(config, key);
      const itemsOfShards = values.get(value) ?? {};
      itemsOfShards[shard] = (itemsOfShards[shard] ?? 0) + 1;
      values.set(value, itemsOfShards);
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return [...values]
    .map(([value, itemsOfShards]) => ({ value, itemsOfShards }))
    .sort((a, b) => sum(b.itemsOfShards) - sum(a.itemsOfShards));
}

function sum(counts: Readonly<Record<number, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
