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

/** What a put does if the item is there, and which indexes it writes. */
export interface TransactPutOptions {
  /**
   * Whether the put fails if the item is there already, wherever an earlier shard count has put it.
   * @default false: the put takes the place of the item that is there
   */
  ifAbsent?: boolean;
  /**
   * The sharded indexes of the table. The item gets its shard of each, which follows from the key that the item is stored by.
   * @default the item gets no shard of an index
   */
  indexes?: readonly ShardedIndexConfig[];
}

/**
 * The writes that put one item of a table that is sharded by its own key, and that keep it at one place even while its
 * shard count changes. Use them in a transaction, alone or with other writes.
 *
 *     await documents.transactWrite({ TransactItems: transactPut(config, item, { ifAbsent: true }) });
 *
 * It is one put as long as the item has one place. A transaction takes twice the write units of a put, so send a single
 * entry as a put of its own: the rule holds as well. While the count changes, a few items have two places or more: then the
 * writes also delete the item at its other places, or check that it is not there. A condition of your own cannot hold at a
 * place that is not known: find the item with `transactGet` first, and update it where it is.
 *
 * If attributes that are not part of the key decide the shard, two items can have the same sort key, and an earlier or a
 * later count can have the same place for both. While the count changes, the writes are therefore conditional there: they
 * fail because of the condition of the place instead of replacing another item.
 *
 * @param item the item as plain JavaScript values, with its value, its sort key and the attributes of `shardedBy`
 * @throws InvalidArgumentError, or one of its subclasses, if a configuration or the item is invalid, or if an index is of
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
      const allowed = 'false or absent where shards are drawn at random: the item may be in any shard';
      throw new InvalidArgumentError('ifAbsent', ifAbsent, allowed);
    }
    return [{ Put: { TableName, Item } }];
  }
  const value = (item as Record<string, unknown>)[config.valueAttribute] as string;
  const [, ...others] = shardKeys(config, value, item);
  if (absent === undefined) {
    const unlessAnother = noOtherItem(config, value, item);
    return [
      { Put: { TableName, Item, ...unlessAnother } },
      ...others.map((Key) => ({ Delete: { TableName, Key, ...unlessAnother } })),
    ];
  }
  return [
    { Put: { TableName, Item, ...absent } },
    ...others.map((Key) => ({ ConditionCheck: { TableName, Key, ...absent } })),
  ];
}

/**
 * The writes that delete an item at each place where it can stand. Like the writes of `transactPut`, they fail instead of
 * deleting another item with the same sort key.
 *
 * @param value the value of the item
 * @param key the sort key, and the attributes of `shardedBy` if they are others
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
 * The reads that find an item at whichever place it stands. Among the answers at most one has an `Item`, whose key says
 * where to update it. A transaction takes four times the read units of an eventually consistent get, so send a single entry as a
 * get of its own. If attributes that are not part of the key decide the shard, look at them: while the count changes, the
 * answers can hold another item with the same sort key, too.
 *
 * @param value the value of the item
 * @param key the sort key, and the attributes of `shardedBy` if they are others
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
 * A condition that no other item is at a place. It is empty if there can be none: because the key identifies the item, or
 * because each item has only the place that its shard gives it.
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
