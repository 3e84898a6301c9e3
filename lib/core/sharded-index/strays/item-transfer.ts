import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { ExpressionBuilder } from '../../aws-client/expression';
import { randomShard } from '../../sharding/random-shard';
import { type ShardedTableConfig, shardCountOf } from '../config/sharded-index-config';
import { shardAttributeValue } from '../config/stored-place';
import { plainItem } from '../query/plain-item';
import { shardKeys } from '../write/shard-key';
import type { Stray } from './stray';
import type { ItemTransferInput, TransferWrite } from './table-client';

/**
 * The maximum number of attributes that a condition compares. Each attribute takes two operators and about 20 bytes.
 * DynamoDB allows 300 operators and 4,096 bytes.
 */
const MAX_COMPARED = 140;

/** The position of the delete in the transaction. */
export const DELETE = 0;

/**
 * The transaction that moves an item to its place. The transaction deletes the item at its old place if the item is unchanged
 * since it was read. The transaction puts the item at its new place if this place and all other possible places of the item are
 * free. Undefined if the item has no version attribute and too many attributes for a condition.
 *
 * @param item the whole item as read
 * @param versionAttribute the attribute that every write changes, or null
 */
export function itemTransfer(
  config: ShardedTableConfig,
  item: DynamoDbItem,
  stray: Stray,
  versionAttribute: string | null,
): ItemTransferInput | undefined {
  const { tableName: TableName, tableKey, shardAttribute } = config;
  const names = Object.keys(item).filter((name) => !tableKey.includes(name) && name !== versionAttribute);
  if (names.length > MAX_COMPARED && versionAttribute === null) return undefined;
  const compared = [...(versionAttribute === null ? [] : [versionAttribute]), ...names].slice(0, MAX_COMPARED);
  const [place, ...others] = placesOf(config, item, stray);
  const at = (partitionKey: AttributeValue): DynamoDbItem => ({ ...stray.key, [shardAttribute]: partitionKey });
  const absent = {
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': shardAttribute },
  };
  const writes: TransferWrite[] = [
    { Delete: { TableName, Key: stray.key, ...unchanged(config, item, compared) } },
    { Put: { TableName, Item: { ...item, ...at(place!) }, ...absent } },
    ...others.map((other) => ({ ConditionCheck: { TableName, Key: at(other), ...absent } })),
  ];
  return { TransactItems: writes, ReturnConsumedCapacity: 'TOTAL' };
}

/**
 * All possible partition keys of the item except its current partition key. The partition key that writers use comes
 * first.
 */
function placesOf(config: ShardedTableConfig, item: DynamoDbItem, { key, value }: Stray): AttributeValue[] {
  const { shardAttribute } = config;
  const { S: text } = value as { S: string };
  if (config.strategy === 'random') {
    const shard = randomShard(shardCountOf(config, text).write);
    return [{ S: shardAttributeValue(config, text, shard) as string }];
  }
  const stored = (key[shardAttribute] as { S: string }).S;
  return shardKeys(config, text, plainItem(item))
    .map((place) => ({ S: place[shardAttribute] as string }))
    .filter(({ S }) => S !== stored);
}

/** A condition that the item exists and that these attributes are unchanged since the item was read. */
function unchanged({ tableKey }: ShardedTableConfig, item: DynamoDbItem, compared: readonly string[]) {
  const builder = new ExpressionBuilder();
  const exists = `attribute_exists(${builder.name(tableKey[0]!)})`;
  const conditions = compared.map((name) => builder.hasValue(name, item[name]));
  return builder.request({ ConditionExpression: [exists, ...conditions].join(' AND ') });
}
