import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { chunks } from '../../lib/core/kernel/chunks';
import { itemWithShards } from '../../lib/core/sharded-index/write/item-with-shards';
import { shardingOfNow } from '../deployed-stack/sharding-of-now';
import { indexesOf } from './producers-and-indexes';
import type { LocalStack } from './run-local';

/** An item as an application gives it to DynamoDBDocument, without its shard attributes. */
export type PlainItem = Record<string, string | number>;

/** Source: the DynamoDB API reference, BatchWriteItem. */
const MAX_BATCH = 25;

/** Writes items as an application does. Each item has the shard attributes of every index of the table. */
export async function writeItems(stack: LocalStack, tableName: string, items: readonly PlainItem[]): Promise<void> {
  const { dynamodb } = stack.clients;
  const documents = DynamoDBDocument.from(dynamodb);
  const declared = indexesOf(stack).filter(({ config }) => config.tableName === tableName);
  const indexes = await Promise.all(declared.map(({ config }) => shardingOfNow(dynamodb, config)));
  for (const batch of chunks(items, MAX_BATCH)) {
    const configs = await Promise.all(indexes.map((index) => index.forWriting()));
    let rest = { [tableName]: batch.map((item) => ({ PutRequest: { Item: itemWithShards(configs, item) } })) };
    while (Object.keys(rest).length > 0) {
      const { UnprocessedItems = {} } = await documents.batchWrite({ RequestItems: rest });
      rest = UnprocessedItems as typeof rest;
    }
  }
}
