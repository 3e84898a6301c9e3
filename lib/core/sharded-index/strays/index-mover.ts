import type { AttributeValue } from '../../aws-client/attribute-value';
import { isSameSharding } from '../change/shard-count-change';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import type { Mover, MoverContext } from './mover';
import type { Stray } from './stray';
import type { ItemMoveInput, ItemReshardClient } from './table-client';

/** Writes the shard attribute of each item of an index, with one conditional update per item. */
export function indexMover(
  client: ItemReshardClient,
  config: ShardedIndexConfig,
  { current, requests, writes, report }: MoverContext,
): Mover {
  return async (stray, checkedWith) => {
    // The shard attribute is right. Only the application can write the missing sort key.
    if (stray.reason === 'noSortKey' && stray.expected === undefined) return ['settled'];
    if (stray.reason === 'invalidValue') return ['refused', 'the value is not a non-empty string or a number'];
    const update = async () => {
      // The counts may have changed during the wait for the budget or for another attempt.
      const now = await current.read();
      if (!isSameSharding(now.shards, checkedWith.shards)) throw new CountsChanged();
      return client.updateItem(itemMove(config, stray));
    };
    try {
      await requests.retry(async () => {
        const { units } = await writes.spend(update);
        report.consumedWriteUnits += units;
      });
      return ['moved'];
    } catch (error) {
      const { name, message } = error as Error;
      if (error instanceof CountsChanged || name === 'ConditionalCheckFailedException') return 'changed';
      if (name === 'ValidationException') return ['refused', message];
      throw error;
    }
  };
}

class CountsChanged extends Error {}

/**
 * The request that gives an item the shard of its value. Its condition requires that the item exists and still has the
 * value and the shard that were read. Concurrent writes of other attributes are safe, because the request does not
 * change them.
 */
function itemMove(config: ShardedIndexConfig, stray: Stray): ItemMoveInput {
  const { tableName, tableKey, valueAttribute, shardAttribute } = config;
  const { key, value, stored, expected } = stray;
  const conditions = ['attribute_exists(#key)', unchanged('#shard', ':stored', stored)];
  if (valueAttribute !== undefined) conditions.push(unchanged('#value', ':value', value));
  const values = {
    ...(expected && { ':expected': expected }),
    ...(stored && { ':stored': stored }),
    ...(value && { ':value': value }),
  };
  return {
    TableName: tableName,
    Key: key,
    UpdateExpression: expected === undefined ? 'REMOVE #shard' : 'SET #shard = :expected',
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: {
      '#key': tableKey[0]!,
      '#shard': shardAttribute,
      ...(valueAttribute !== undefined && { '#value': valueAttribute }),
    },
    ExpressionAttributeValues: values,
    ReturnConsumedCapacity: 'TOTAL',
  };
}

function unchanged(name: string, placeholder: string, read: AttributeValue | undefined): string {
  return read === undefined ? `attribute_not_exists(${name})` : `${name} = ${placeholder}`;
}
