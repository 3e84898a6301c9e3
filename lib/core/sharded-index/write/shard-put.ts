import { chunks } from '../../kernel/chunks';
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

/** The maximum number of writes of one BatchWriteItem request. Source: the DynamoDB API reference, "BatchWriteItem". */
const MAX_BATCH = 25;

/**
 * Returns the input of a PutItem request, in which the item contains its shard attribute for every sharded index.
 *
 *     await documents.put(shardPut([byStatus, byTime], order, { ConditionExpression: 'attribute_not_exists(orderId)' }));
 *     await documents.transactWrite({ TransactItems: [{ Put: shardPut([byStatus], order) }, audit] });
 *
 * @param configs the configurations of the sharded indexes of one table, and the configuration of the table if it is sharded by
 *   its own key; at least one
 * @param item the item, as plain JavaScript values; existing shard attributes are replaced
 * @throws InvalidArgumentError, or one of its subclasses, if a configuration or the item is invalid, or if the configurations
 *   are of different tables
 * @throws UncertainShardError while the shard count of a table that is sharded by its own key changes; use `transactPut` and
 *   `transactDelete` instead
 */
export function shardPut(configs: readonly ShardedConfig[], item: object, expression: WriteExpression = {}): PutInput {
  checkPlaceholders(expression);
  checkExpressionLimits('expression', expression);
  return { TableName: tableOf(configs), Item: itemAtKnownPlace(configs, item), ...expression };
}

/**
 * Returns the inputs of BatchWriteItem requests that put and delete items. Each item to put contains its shard attribute for
 * every sharded index. Each input has at most 25 writes. Send `UnprocessedItems` of a response again.
 *
 *     for (const input of shardBatches([byStatus], { put: orders })) await documents.batchWrite(input);
 *
 * @param configs as for `shardPut`
 * @param writes the items to put, and the table keys of the items to delete
 * @throws the errors of `shardPut`
 * @throws InvalidArgumentError if the table is sharded by its own key, and a key to delete does not contain a shard that
 *   readers query
 */
export function shardBatches(
  configs: readonly ShardedConfig[],
  { put = [], delete: keys = [] }: { put?: readonly object[]; delete?: readonly object[] },
): BatchInput[] {
  const table = tableOf(configs);
  for (const config of configs) if (isTableConfig(config)) checkDeletes(config, keys);
  const writes = [
    ...put.map((item) => ({ PutRequest: { Item: itemAtKnownPlace(configs, item) } })),
    ...keys.map((key) => ({ DeleteRequest: { Key: { ...key } } })),
  ];
  return chunks(writes, MAX_BATCH).map((batch) => ({ RequestItems: { [table]: batch } }));
}

function itemAtKnownPlace(configs: readonly ShardedConfig[], item: object): Record<string, unknown> {
  for (const config of configs) {
    if (isTableConfig(config)) checkPlaceIsKnown(config, Object(item)[config.valueAttribute]);
  }
  return itemWithShards(configs, item);
}

/**
 * Checks the keys of deletes. DynamoDB acknowledges a delete even if no item has the key. So without this check, no error would
 * report a wrong key.
 */
function checkDeletes(config: ShardedTableConfig, keys: readonly object[]): void {
  keys.forEach((key, number) => {
    checkPlaceIsKnown(config, placeIn(config, `delete[${number}]`, key).value);
  });
}

function checkPlaceIsKnown(config: ShardedTableConfig, value: unknown): void {
  const { write, read, since = write } = shardCountOf(config, value as string);
  if (since === read || config.strategy === 'random') return;
  const allowed = 'counts that are not changing (during a change, use transactPut and transactDelete)';
  throw new UncertainShardError('config.shards', { write, read, since }, allowed);
}
