import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { ExpressionBuilder } from '../../aws-client/expression';
import { randomShard } from '../../sharding/random-shard';
import { type ShardedTableConfig, shardCountOf } from '../config/sharded-index-config';
import { shardAttributeValue } from '../config/stored-place';
import { plainItem } from '../query/plain-item';
import { shardKeys } from '../write/shard-key';
import type { Stray } from './stray';
import type { ItemTransferInput, TransferWrite } from './table-client';

/** The most attributes that a condition compares. Each takes two of 300 operators, and about 20 of 4,096 bytes. */
const MAX_COMPARED = 140;

/** The place of the delete in a transfer. */
export const DELETE = 0;

/**
 * The transaction that takes an item to its place. It deletes the item at the place where it was read, on the condition
 * that it is as it was read, and puts it at its place, on the condition that there is no item at this place or at any other
 * place where it may be. Undefined if the item has more attributes than a condition compares, and none of them is known to
 * change with every write.
 *
 * @param item the whole item as it was read
 * @param versionAttribute the attribute that changes with every write, or null
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

/** The partition keys where the item may be, except the one where it is. The one for writers comes first. */
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

/** A condition that holds while the item exists and these attributes are as they were read. */
function unchanged({ tableKey }: ShardedTableConfig, item: DynamoDbItem, compared: readonly string[]) {
  const builder = new ExpressionBuilder();
  const exists = `attribute_exists(${builder.name(tableKey[0]!)})`;
  const conditions = compared.map((name) =>
    item[name] === undefined
      ? `attribute_not_exists(${builder.name(name)})`
      : `${builder.name(name)} = ${builder.value(item[name])}`,
  );
  return builder.request({ ConditionExpression: [exists, ...conditions].join(' AND ') });
}
