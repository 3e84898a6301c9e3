import type { AttributeValue, DynamoDbItem } from '../../aws-client/attribute-value';
import { ExpressionBuilder } from '../../aws-client/expression';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { indexStrayAttributes, indexStrayOf } from '../strays/index-stray';
import type { Stray, StrayReason } from '../strays/stray';
import type { ItemMoveInput } from '../strays/table-client';

/**
 * The reasons that a keeper corrects: queries do not find the item, or find it under an outdated value. A keeper leaves a
 * `misplaced` item in its shard, because readers query this shard. So two keepers with different write counts do not undo each
 * other's corrections.
 */
const CORRECTED: ReadonlySet<StrayReason> = new Set(['missing', 'malformed', 'otherValue', 'outOfRange', 'leftOver']);

/**
 * The reasons that only the application can correct: the value or the sort key cannot be part of an index key. If such an item still
 * has the shard attribute of an earlier value, the keeper removes it. Otherwise a query for the earlier value would find the item.
 */
const NOT_KEPT: ReadonlySet<StrayReason> = new Set(['invalidValue', 'noSortKey']);

/** A stray, and its index. */
export interface IndexStray {
  config: ShardedIndexConfig;
  stray: Stray;
}

/** The strays of an item. */
export interface ItemCorrection {
  /** The strays that the keeper corrects. */
  wrong: IndexStray[];
  /** The strays that only the application can correct. */
  notKept: IndexStray[];
}

/** The attributes that determine the strays of an item. */
export function keptAttributes(configs: readonly ShardedIndexConfig[]): string[] {
  return [...new Set(configs.flatMap(indexStrayAttributes))];
}

/** Compares an item with the shard attributes that a writer would give it. */
export function correctionOf(configs: readonly ShardedIndexConfig[], item: DynamoDbItem): ItemCorrection {
  const strays = configs.flatMap((config) => {
    const stray = indexStrayOf(config, item);
    return stray === undefined ? [] : [{ config, stray }];
  });
  const wrong = strays.filter(
    ({ stray: { reason, stored } }) => CORRECTED.has(reason) || (reason === 'invalidValue' && stored !== undefined),
  );
  const notKept = strays.filter(({ stray }) => NOT_KEPT.has(stray.reason));
  return { wrong, notKept };
}

/** The strays of each shard attribute. DynamoDB can reject the correction of an index and accept the correction of another index. */
export function byShardAttribute(strays: readonly IndexStray[]): IndexStray[][] {
  const parts = new Map<string, IndexStray[]>();
  for (const each of strays) {
    const { shardAttribute } = each.config;
    parts.set(shardAttribute, [...(parts.get(shardAttribute) ?? []), each]);
  }
  return [...parts.values()];
}

/** The same strays, to remove their shard attributes. */
export function withoutShards(strays: readonly IndexStray[]): IndexStray[] {
  return strays.map(({ config, stray: { expected: _, ...stray } }) => ({ config, stray }));
}

/**
 * The request that corrects strays of one item. Its condition is that the item exists. The values and the shard attributes must
 * also be unchanged.
 */
export function updateOf(strays: readonly IndexStray[]): ItemMoveInput {
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
  const unchanged = Array.from(read, ([attribute, value]) => {
    const name = builder.name(attribute);
    return value === undefined ? `attribute_not_exists(${name})` : `${name} = ${builder.value(value)}`;
  });
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
      ConditionExpression: [`attribute_exists(${builder.name(tableKey[0]!)})`, ...unchanged].join(' AND '),
    }),
    ReturnConsumedCapacity: 'TOTAL',
  };
}
