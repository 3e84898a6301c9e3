import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { AdaptiveIndex } from '../../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import type { GrownCount } from '../../../lib/core/adaptive-counts/grown-count';
import type { ShardedIndexConfig } from '../../../lib/core/sharded-index/sharded-index-config';
import { findStrays } from '../../../lib/core/sharded-index/strays/find-strays';
import type { StrayReport } from '../../../lib/core/sharded-index/strays/stray-report';
import { partitionKeyOf } from '../gate/table-shapes';
import type { LocalStack } from '../run-local';
import { entryOf, partitionOf } from './index-entry';

/** What an index holds now, of which the traffic tells only what came. */
export interface StoredItems {
  /** The busiest value first. */
  readonly values: readonly { readonly value: string; readonly itemsOfShards: Readonly<Record<number, number>> }[];
  readonly strays: StrayReport['strays'];
  /** Items that no query for their value finds. */
  readonly hidden: number;
  /** Counts that have grown, of an index whose counts are adaptive. */
  readonly grown?: readonly GrownCount[];
}

/** Counts the items of an index by value and shard, and looks for strays in its table. Reads all of both. */
export async function storedItems({ ungatedClients }: LocalStack, config: ShardedIndexConfig): Promise<StoredItems> {
  const { dynamodb } = ungatedClients;
  const reader = config.adaptive && new DynamoDbShardCountReader(dynamodb, config);
  const [values, grown, report] = await Promise.all([
    itemsByValue(dynamodb, config),
    reader?.readCounts(),
    findStrays(dynamodb, reader === undefined ? config : await new AdaptiveIndex(config, reader).forReading()),
  ]);
  return { values, strays: report.strays, hidden: report.hidden, ...(grown && { grown }) };
}

async function itemsByValue(dynamodb: DynamoDB, config: ShardedIndexConfig): Promise<StoredItems['values']> {
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
