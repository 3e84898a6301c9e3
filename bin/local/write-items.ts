import { AdaptiveIndex } from '../../lib/core/adaptive-counts/adaptive-index';
import { DynamoDbShardCountReader } from '../../lib/core/adaptive-counts/dynamodb-shard-count-store';
import type { ShardedConfig } from '../../lib/core/sharded-index/config/sharded-index-config';
import { toAttributeValue } from '../../lib/core/sharded-index/query/sort-key-select';
import { shardAttributes } from '../../lib/core/sharded-index/write/shard-attributes';
import { indexesOf } from './producers-and-indexes';
import type { LocalStack } from './run-local';

/** An item as an application gives it to DynamoDBDocument, without its shard attributes. */
export type PlainItem = Record<string, string | number>;

/** Source: the DynamoDB API reference, BatchWriteItem. */
const MAX_BATCH = 25;

/** Writes items as an application does. Each item has the shard attributes of every index of the table. */
export async function writeItems(stack: LocalStack, tableName: string, items: readonly PlainItem[]): Promise<void> {
  const indexes = indexesOf(stack).filter(({ config }) => config.tableName === tableName);
  const writers = indexes.map(({ config }) => configForWriting(stack, config));
  for (let start = 0; start < items.length; start += MAX_BATCH) {
    const configs = await Promise.all(writers.map((writer) => writer()));
    let requests = items.slice(start, start + MAX_BATCH).map((item) => {
      const withShards = Object.assign({}, item, ...configs.map((config) => shardAttributes(config, item)));
      const attributes = Object.entries(withShards as PlainItem).map(([name, value]) => [
        name,
        toAttributeValue(value),
      ]);
      return { PutRequest: { Item: Object.fromEntries(attributes) } };
    });
    while (requests.length > 0) {
      const { UnprocessedItems } = await stack.clients.dynamodb.batchWriteItem({
        RequestItems: { [tableName]: requests },
      });
      requests = (UnprocessedItems?.[tableName] ?? []) as typeof requests;
    }
  }
}

/**
 * Returns a function that returns the current configuration. The configuration changes if shard counts are adaptive.
 */
function configForWriting({ clients: { dynamodb } }: LocalStack, config: ShardedConfig): () => Promise<ShardedConfig> {
  if (config.indexName === undefined || config.adaptive === undefined) return async () => config;
  const index = new AdaptiveIndex(config, new DynamoDbShardCountReader(dynamodb, config));
  return () => index.forWriting();
}
