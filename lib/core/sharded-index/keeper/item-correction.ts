import type { DynamoDbItem } from '../../aws-client/attribute-value';
import type { ShardedIndexConfig } from '../config/sharded-index-config';
import { indexStrayAttributes, indexStrayOf } from '../strays/index-stray';
import type { IndexStray } from '../strays/item-move';
import type { StrayReason } from '../strays/stray';

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

/** The strays of an item. */
interface ItemCorrection {
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
    // A sparse index needs no shard before the item has its sort key. The keeper sees the write that sets the sort key.
    return stray === undefined || (stray.reason === 'missing' && !stray.hidden) ? [] : [{ config, stray }];
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
