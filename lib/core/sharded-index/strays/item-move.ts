import type { AttributeValue } from '../../aws-client/attribute-value';
import { ExpressionBuilder } from '../../aws-client/expression';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import type { Stray } from './stray';
import type { ItemMoveInput } from './table-client';

/** A stray, and its index. */
export interface IndexStray {
  config: ShardedIndexConfig;
  stray: Stray;
}

/**
 * The errors of an update that another attempt cannot overcome, because the item itself causes them. Source: the DynamoDB API
 * reference, UpdateItem.
 */
const REJECTIONS: ReadonlySet<string> = new Set(['ValidationException', 'ItemCollectionSizeLimitExceededException']);

/** Whether DynamoDB rejected an update because of the item. */
export function isRejection(error: unknown): boolean {
  return REJECTIONS.has(Object(error).name);
}

/**
 * The request that gives an item the shards of its strays, or removes the shard attributes of strays without an expected shard.
 * Its condition is that the item exists. The values and the shard attributes must also be unchanged since the item was read.
 * Concurrent writes of other attributes are safe, because the request does not change them.
 *
 * @param strays strays of one item
 */
export function itemMove(strays: readonly IndexStray[]): ItemMoveInput {
  const builder = new ExpressionBuilder();
  const { tableName, tableKey } = strays[0]!.config;
  const read = new Map<string, AttributeValue | undefined>();
  // Indexes that share a shard attribute have the same sharding, so the last expected shard is right for all of them.
  const expected = new Map<string, AttributeValue | undefined>();
  for (const { config, stray } of strays) {
    if (config.valueAttribute !== undefined) read.set(config.valueAttribute, stray.value);
    read.set(config.shardAttribute, stray.stored);
    expected.set(config.shardAttribute, stray.expected);
  }
  const exists = `attribute_exists(${builder.name(tableKey[0]!)})`;
  const unchanged = Array.from(read, ([attribute, value]) => builder.hasValue(attribute, value));
  const set = [...expected].flatMap(([attribute, value]) =>
    value === undefined ? [] : [`${builder.name(attribute)} = ${builder.value(value)}`],
  );
  const remove = [...expected].flatMap(([attribute, value]) => (value === undefined ? [builder.name(attribute)] : []));
  const clauses = [set.length > 0 && `SET ${set.join(', ')}`, remove.length > 0 && `REMOVE ${remove.join(', ')}`];
  return {
    TableName: tableName,
    Key: strays[0]!.stray.key,
    ...builder.request({
      UpdateExpression: clauses.filter(Boolean).join(' '),
      ConditionExpression: [exists, ...unchanged].join(' AND '),
    }),
    ReturnConsumedCapacity: 'TOTAL',
  };
}

/**
 * The request that removes the shard attribute of an item. The index rejects the value of the item, and a query for the earlier
 * value would find the item for ever. Undefined if the item has no shard attribute, or if queries for its value find the item.
 *
 * @param strays strays of one item with the same shard attribute
 */
export function removalOfShard(strays: readonly IndexStray[]): ItemMoveInput | undefined {
  const { stored, reason } = strays[0]!.stray;
  if (stored === undefined || reason === 'misplaced') return undefined;
  return itemMove(strays.map(({ config, stray: { expected: _, ...stray } }) => ({ config, stray })));
}
