import {
  isTableConfig,
  type ShardedConfig,
  type ShardedTableConfig,
  shardCountOf,
} from '../config/sharded-index-config';
import { UncertainShardError } from '../config/sharded-index-errors';
import { placeIn } from '../config/stored-place';
import { itemWithShards, tableOf } from './item-with-shards';
import { checkExpressionLimits, checkPlaceholders, type WriteExpression } from './write-expression';

/** The input of a PutItem request, or of `Put` in a transaction, with plain JavaScript values. */
export interface PutInput extends WriteExpression {
  TableName: string;
  Item: Record<string, unknown>;
}

/** The input of a BatchWriteItem request, with plain JavaScript values. */
export interface BatchInput {
  RequestItems: Record<
    string,
    ({ PutRequest: { Item: Record<string, unknown> } } | { DeleteRequest: { Key: Record<string, unknown> } })[]
  >;
}

/** The most writes of one BatchWriteItem request. Source: the DynamoDB API reference, "BatchWriteItem". */
const MAX_BATCH = 25;

/**
 * The input of a put of one item, with its shard of every sharded index, and with a condition of the caller.
 *
 *     await documents.put(shardPut([byStatus, byTime], order, { ConditionExpression: 'attribute_not_exists(orderId)' }));
 *     await documents.transactWrite({ TransactItems: [{ Put: shardPut([byStatus], order) }, audit] });
 *
 * @param configs the configurations of the sharded indexes of one table, and that of the table if it is sharded by its own
 *   key: at least one
 * @param item the item, as plain JavaScript values; the shards that it was read with do not count
 * @throws InvalidArgumentError, or one of its subclasses, if a configuration or the item is invalid, or if the
 *   configurations are of different tables
 * @throws UncertainShardError for a table whose shard count changes: put with `transactPut`, and delete with `transactDelete` there
 */
export function shardPut(configs: readonly ShardedConfig[], item: object, expression: WriteExpression = {}): PutInput {
  checkPlaceholders(expression);
  checkExpressionLimits('expression', expression);
  return { TableName: tableOf(configs), Item: itemAtCertainPlace(configs, item), ...expression };
}

/**
 * The inputs of the BatchWriteItem requests that put items, each with its shard of every sharded index, and that delete
 * others. Each input has at most 25 writes. Send what DynamoDB answers as `UnprocessedItems` again.
 *
 *     for (const input of shardBatches([byStatus], { put: orders })) await documents.batchWrite(input);
 *
 * @param configs as for `shardPut`
 * @param writes the items to put, and the table keys of the items to delete
 * @throws as `shardPut` does, and InvalidArgumentError for a key to delete, of a table that is sharded by its own key, that names no
 *   shard which readers ask
 */
export function shardBatches(
  configs: readonly ShardedConfig[],
  { put = [], delete: keys = [] }: { put?: readonly object[]; delete?: readonly object[] },
): BatchInput[] {
  const table = tableOf(configs);
  for (const config of configs) if (isTableConfig(config)) checkDeletes(config, keys);
  const writes = [
    ...put.map((item) => ({ PutRequest: { Item: itemAtCertainPlace(configs, item) } })),
    ...keys.map((key) => ({ DeleteRequest: { Key: { ...key } } })),
  ];
  return Array.from({ length: Math.ceil(writes.length / MAX_BATCH) }, (_, batch) => ({
    RequestItems: { [table]: writes.slice(batch * MAX_BATCH, (batch + 1) * MAX_BATCH) },
  }));
}

function itemAtCertainPlace(configs: readonly ShardedConfig[], item: object): Record<string, unknown> {
  for (const config of configs) {
    if (isTableConfig(config)) checkCertain(config, Object(item)[config.valueAttribute]);
  }
  return itemWithShards(configs, item);
}

/** DynamoDB acknowledges a delete even if no item has the key, so a wrong key must be found here. */
function checkDeletes(config: ShardedTableConfig, keys: readonly object[]): void {
  keys.forEach((key, number) => {
    checkCertain(config, placeIn(config, `delete[${number}]`, key).value);
  });
}

function checkCertain(config: ShardedTableConfig, value: unknown): void {
  const { write, read, since = write } = shardCountOf(config, value as string);
  if (since === read || config.strategy === 'random') return;
  const allowed = 'counts that do not change, or use transactPut and transactDelete';
  throw new UncertainShardError('config.shards', { write, read, since }, allowed);
}
