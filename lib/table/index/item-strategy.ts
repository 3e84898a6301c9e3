import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { ShardingStrategy } from './sharded-index-options';

/**
 * The strategy with which writers of items choose a shard.
 *
 * @throws InvalidIndexConfigError for the strategy that only tables of Amazon Keyspaces have
 */
export function itemStrategy(
  field: string,
  strategy: ShardingStrategy = ShardingStrategy.CALCULATED,
): ShardedIndexConfig['strategy'] {
  if (strategy === ShardingStrategy.PRODUCT_OF_CODE_POINTS) {
    const allowed = 'CALCULATED or RANDOM (PRODUCT_OF_CODE_POINTS is for imported tables of Amazon Keyspaces)';
    throw new InvalidIndexConfigError(field, strategy, allowed);
  }
  return `${strategy}`;
}
