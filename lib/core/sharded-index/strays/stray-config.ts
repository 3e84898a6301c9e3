import { checkShardedConfig, isTableConfig, type ShardedConfig } from '../sharded-index-config';
import { InvalidIndexConfigError } from '../sharded-index-errors';

/**
 * An item of a table that is sharded by its own key cannot change its shard: it would be another item.
 *
 * @throws InvalidIndexConfigError if the configuration is invalid, or is that of a table
 */
export function checkStrayConfig(config: ShardedConfig): void {
  checkShardedConfig(config);
  if (!isTableConfig(config)) return;
  const allowed = 'the name of an index; put the items of a table that is sharded by its own key with transactPut';
  throw new InvalidIndexConfigError('config.indexName', config.indexName, allowed);
}
