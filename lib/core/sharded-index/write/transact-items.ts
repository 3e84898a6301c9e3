import { InvalidArgumentError } from '../../kernel/errors';
import { type ShardedIndexConfig, type ShardedTableConfig, shardCountOf } from '../config/sharded-index-config';
import { itemWithShards, tableOf } from './item-with-shards';
import { checkedValue } from './shard-attributes';
import { shardKeys } from './shard-key';

/** One entry of `TransactItems` of a TransactWriteItems request, with plain JavaScript values. */
export type TransactWrite =
  | { Put: { TableName: string; Item: Record<string, unknown> } & Partial<TransactCondition> }
  | { Delete: { TableName: string; Key: Record<string, unknown> } & Partial<TransactCondition> }
  | { ConditionCheck: { TableName: string; Key: Record<string, unknown> } & TransactCondition };

/** The condition of a write in a transaction, as `TransactWriteItems` takes it. */
export interface TransactCondition {
  ConditionExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** One entry of `TransactItems` of a TransactGetItems request, with plain JavaScript values. */
export interface TransactGet {
  Get: { TableName: string; Key: Record<string, unknown> };
}

/** Options of `transactPut`. */
export interface TransactPutOptions {
  /**
   * Whether the put fails if the item already exists, at its place or at a place of another shard count.
   * @default false: the put replaces an existing item
   */
  ifAbsent?: boolean;
  /**
   * The sharded indexes of the table. The item gets its shard attribute for each index. The shard is computed from the new
   * table key of the item.
   * @default the item gets no shard attribute of an index
   */
  indexes?: readonly ShardedIndexConfig[];
}

/**
 * Returns the writes that put one item of a table that is sharded by its own key. These writes keep the item at one place even
 * while the shard count changes. Use these writes in a transaction, alone or with other writes.
 *
 *     await documents.transactWrite({ TransactItems: transactPut(config, item, { ifAbsent: true }) });
 *
 * While the item has one place, the result is one put. A transaction consumes twice the write units of a put, so send a single
 * entry as a plain put instead. While the count changes, a few items have two or more places. For these items the writes also
 * delete the item at its other places, or check that it is not at these places. If you need a condition of your own, find the
 * item with `transactGet` first, and update the item at its place.
 *
 * If attributes outside the key decide the shard, two items can have the same sort key. An earlier or a later count can then
 * give both items the same place. While the count changes, the writes therefore check such a place in a condition, and fail
 * instead of replacing another item.
 *
 * @param item the item as plain JavaScript values, with its value, its sort key and the attributes of `shardedBy`
 * @throws InvalidArgumentError, or one of its subclasses, if a configuration or the item is invalid, or if an index belongs to
 *   another table
 */
export function transactPut(
  config: ShardedTableConfig,
  item: object,
  { ifAbsent = false, indexes = [] }: TransactPutOptions = {},
): TransactWrite[] {
  const configs = [config, ...indexes];
  const TableName = tableOf(configs);
  const Item = itemWithShards(configs, item);
  const absent = ifAbsent ? absence(config) : undefined;
  if (config.strategy === 'random') {
    if (ifAbsent) {
      const allowed = 'false or absent with random shards (the item may be in any shard)';
      throw new InvalidArgumentError('ifAbsent', ifAbsent, allowed);
    }
    return [{ Put: { TableName, Item } }];
  }
  const value = (item as Record<string, unknown>)[config.valueAttribute] as string;
  const [, ...others] = shardKeys(config, value, item);
  if (absent === undefined) {
    const noOther = noOtherItem(config, value, item);
    return [
      { Put: { TableName, Item, ...noOther } },
      ...others.map((Key) => ({ Delete: { TableName, Key, ...noOther } })),
    ];
  }
  return [
    { Put: { TableName, Item, ...absent } },
    ...others.map((Key) => ({ ConditionCheck: { TableName, Key, ...absent } })),
  ];
}

/**
 * Returns the writes that delete an item at each of its possible places. Like the writes of `transactPut`, these writes fail
 * instead of deleting another item with the same sort key.
 *
 * @param value the value of the item
 * @param key the sort key, and the attributes of `shardedBy` that are not the sort key
 * @throws as `shardKeys` does
 */
export function transactDelete(
  config: ShardedTableConfig,
  value: string | number | bigint,
  key: object,
): TransactWrite[] {
  const { tableName: TableName } = config;
  return shardKeys(config, value, key).map((Key) => ({
    Delete: { TableName, Key, ...noOtherItem(config, value, key) },
  }));
}

/**
 * Returns the reads that find an item at any of its possible places. At most one response has an `Item`. Update the item with
 * the key of that response. A transaction consumes four times the read units of an eventually consistent get, so send a single
 * entry as a plain get instead. If attributes outside the key decide the shard, check these attributes in the response: while
 * the count changes, a response can contain another item with the same sort key.
 *
 * @param value the value of the item
 * @param key the sort key, and the attributes of `shardedBy` that are not the sort key
 * @throws as `shardKeys` does
 */
export function transactGet(config: ShardedTableConfig, value: string | number | bigint, key: object): TransactGet[] {
  return shardKeys(config, value, key).map((Key) => ({ Get: { TableName: config.tableName, Key } }));
}

function absence({ shardAttribute }: ShardedTableConfig): TransactCondition {
  return {
    ConditionExpression: 'attribute_not_exists(#evenShardsKey)',
    ExpressionAttributeNames: { '#evenShardsKey': shardAttribute },
  };
}

/**
 * A condition that no other item is at a place. Undefined if no other item can be there: the key identifies the item,
 * or each item has only one place.
 */
function noOtherItem(
  config: ShardedTableConfig,
  value: string | number | bigint,
  item: object,
): TransactCondition | undefined {
  const { shardAttribute, shardedBy, tableKey } = config;
  const { write, read, since = write } = shardCountOf(config, checkedValue(config, 'value', value));
  const outsideKey = shardedBy.filter((attribute) => attribute !== tableKey[1]);
  if (since === read || outsideKey.length === 0) return undefined;
  const given = item as Record<string, unknown>;
  const isSame = outsideKey.map((_, number) => `#evenShards${number} = :evenShards${number}`).join(' AND ');
  return {
    ConditionExpression: `attribute_not_exists(#evenShardsKey) OR (${isSame})`,
    ExpressionAttributeNames: Object.fromEntries([
      ['#evenShardsKey', shardAttribute],
      ...outsideKey.map((attribute, number) => [`#evenShards${number}`, attribute]),
    ]),
    ExpressionAttributeValues: Object.fromEntries(
      outsideKey.map((attribute, number) => [`:evenShards${number}`, given[attribute]]),
    ),
  };
}
