import type { AttributeValue } from '../../foundation/attribute-value';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import type { Stray } from './stray';
import type { ItemMoveInput } from './table-client';

/**
 * The request that gives an item the shard of its value. Its condition holds only while the item exists with the value and
 * the shard that were read. A write of anything else of the item may come at any time: the request does not touch it.
 */
export function itemMove(config: ShardedIndexConfig, stray: Stray): ItemMoveInput {
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
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    ReturnConsumedCapacity: 'TOTAL',
  };
}

function unchanged(name: string, placeholder: string, read: AttributeValue | undefined): string {
  return read === undefined ? `attribute_not_exists(${name})` : `${name} = ${placeholder}`;
}
