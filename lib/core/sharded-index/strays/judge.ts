import type { DynamoDbItem } from '../../aws-client/attribute-value';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { indexStrayOf, judgedIndexAttributes } from './index-stray';
import { judgedKeyAttributes, keyStrayOf } from './key-stray';
import type { Stray } from './stray';

/** The attributes of an item that decide whether it is a stray. */
export function judgedAttributes(config: ShardedConfig): string[] {
  return isTableConfig(config) ? judgedKeyAttributes(config) : judgedIndexAttributes(config);
}

/**
 * What is wrong with the shard of an item, or undefined if nothing is. With the strategy `random`, every shard that writers
 * use is right.
 */
export function strayOf(config: ShardedConfig, item: DynamoDbItem): Stray | undefined {
  return isTableConfig(config) ? keyStrayOf(config, item) : indexStrayOf(config, item);
}
