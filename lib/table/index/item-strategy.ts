import type { ShardedIndexConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { ShardingStrategy } from './sharded-index-options';

/**
 * How writers of items pick a shard.
 *
 * @throws InvalidIndexConfigError for the strategy that tables of Amazon Keyspaces alone have
 */
export function itemStrategy(
  field: string,
  strategy: ShardingStrategy = ShardingStrategy.CALCULATED,
): ShardedIndexConfig['strategy'] {
  if (strategy === ShardingStrategy.PRODUCT_OF_CODE_POINTS) {
    const allowed = 'CALCULATED or RANDOM: the product is for tables of Amazon Keyspaces that others have filled';
    throw new InvalidIndexConfigError(field, strategy, allowed);
  }
  return `${strategy}`;
}
