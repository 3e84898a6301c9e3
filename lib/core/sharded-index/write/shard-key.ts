import { checkFields } from '../../kernel/checks';
import { calculatedShards } from '../../sharding/calculated-shard';
import { checkShardedConfig } from '../config/check-sharded-config';
import { type ShardedTableConfig, shardCountOf } from '../config/sharded-index-config';
import { InvalidIndexConfigError, UncertainShardError } from '../config/sharded-index-errors';
import { shardAttributeValue } from '../config/stored-place';
import { itemText } from '../query/item-text';
import { checkedValue } from './shard-attributes';

/**
 * Returns the full key of one item of a table that is sharded by its own key, as plain JavaScript values. Use this function to
 * get, update or delete an item without a query of all shards.
 *
 *     await documents.get({ TableName, Key: shardKey(config, '121212', { ClientTransactionId: 'Client1_trans1' }) });
 *
 * @param value the value of the item
 * @param key the sort key of the item and the attributes of `shardedBy`; other attributes are ignored
 * @throws UncertainShardError while the shard count of the value changes: the item may then be at several places, which
 *   `shardKeys` returns
 * @throws InvalidArgumentError, or one of its subclasses, if the configuration, the value or the key is invalid, or if the
 *   strategy is `random`
 */
export function shardKey(
  config: ShardedTableConfig,
  value: string | number | bigint,
  key: object,
): Record<string, unknown> {
  const [writePlace] = shardKeys(config, value, key);
  const { write, read, since = write } = shardCountOf(config, checkedValue(config, 'value', value));
  if (since === read) return writePlace!;
  const allowed =
    'counts that are not changing (during a change, use shardKeys, transactGet, transactPut and transactDelete)';
  throw new UncertainShardError('config.shards', { write, read, since }, allowed);
}

/**
 * Returns the keys of all places where an item can be. The first key is the key that writers use. The item is at only one of
 * these places if every writer uses `transactPut`, or checks all of these places in its conditions. An item has one place
 * unless the shard count changes. During a change, most items still have one place.
 *
 * @throws the errors of `shardKey`, except UncertainShardError
 */
export function shardKeys(
  config: ShardedTableConfig,
  value: string | number | bigint,
  key: object,
): Record<string, unknown>[] {
  checkShardedConfig(config);
  if (config.indexName !== undefined) {
    const allowed = 'absent (the key of an item does not depend on the shard of an index)';
    throw new InvalidIndexConfigError('config.indexName', config.indexName, allowed);
  }
  if (config.strategy === 'random') {
    const allowed = 'calculated (with random shards, only a query finds an item)';
    throw new InvalidIndexConfigError('config.strategy', config.strategy, allowed);
  }
  checkFields('key', key);
  const attributes = key as Record<string, unknown>;
  const checked = checkedValue(config, 'value', value);
  const sortKey = config.tableKey[1]!;
  itemText([sortKey], attributes);
  const { write, read, since = write } = shardCountOf(config, checked);
  const shards = calculatedShards(itemText(config.shardedBy, attributes), since, read);
  const writeShard = shards.findLast((shard) => shard < write)!;
  return [writeShard, ...shards.filter((shard) => shard !== writeShard)].map((shard) => ({
    [config.shardAttribute]: shardAttributeValue(config, checked, shard),
    [sortKey]: attributes[sortKey],
  }));
}
