import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb';
import { AdaptiveIndex } from '../../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import { pages } from '../../../lib/core/kernel/pages';
import type { ShardedConfig } from '../../../lib/core/sharded-index/config/sharded-index-config';
import { findStrays } from '../../../lib/core/sharded-index/strays/find-strays';
import type { StrayReport } from '../../../lib/core/sharded-index/strays/stray-report';
import { partitionKeyOf } from '../limits/table-shapes';
import type { LocalStack } from '../run-local';
import { type CountsByValue, countsByValue } from './counts-by-value';
import { entryOf, type IndexEntry, partitionOf } from './index-entry';

/** The items that are in an index now. The other views count only the writes since the start. */
export interface StoredItems {
  readonly values: CountsByValue;
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
    countsByValue(entriesOf(dynamodb, config)),
    findStrays(dynamodb, await withCountsOfNow(dynamodb, config)),
  ]);
  return { values, strays, hidden };
}

async function withCountsOfNow(dynamodb: DynamoDB, config: ShardedConfig): Promise<ShardedConfig> {
  if (config.indexName === undefined || config.adaptive === undefined) return config;
  return new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamodb, config)).forReading();
}

async function* entriesOf(dynamodb: DynamoDB, config: ShardedConfig): AsyncGenerator<IndexEntry> {
  const { tableName: TableName, indexName: IndexName } = config;
  const partition = partitionOf(config);
  const read = (ExclusiveStartKey: Record<string, AttributeValue> | undefined) =>
    dynamodb.scan({ TableName, IndexName, ExclusiveStartKey });
  for await (const { Items = [] } of pages('Scan', read, ({ LastEvaluatedKey }) => LastEvaluatedKey)) {
    for (const item of Items) {
      const key = partitionKeyOf(partition, item);
      if (key !== undefined) yield entryOf(config, key);
    }
  }
}
