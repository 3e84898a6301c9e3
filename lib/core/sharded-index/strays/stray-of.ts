import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { indexStrayAttributes, indexStrayOf } from './index-stray';
import { keyStrayAttributes, keyStrayOf } from './key-stray';
import type { Stray } from './stray';

/** The attributes that determine whether an item is a stray. */
export function strayAttributes(config: ShardedConfig): string[] {
  return isTableConfig(config) ? keyStrayAttributes(config) : indexStrayAttributes(config);
}

/**
 * Checks an item. Returns the stray, or undefined if the item is at its place. With the strategy `random`, every shard
 * that writers use is right.
 */
export function strayOf(config: ShardedConfig, item: DynamoDbItem): Stray | undefined {
  return isTableConfig(config) ? keyStrayOf(config, item) : indexStrayOf(config, item);
}
