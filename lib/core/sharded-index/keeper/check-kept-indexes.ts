import { InvalidArgumentError } from '../../kernel/errors';
import { haveSameSharding, type ShardedIndexConfig } from '../config/sharded-index-config';

/**
 * Checks that one item can have the shard attributes of all indexes. Otherwise the keeper would correct its own corrections
 * forever.
 *
 * @throws InvalidArgumentError if the indexes belong to different tables, or if the value or the sort key of an index is the shard
 *   attribute of another index
 * @throws InvalidArgumentError if two indexes share a shard attribute, and choose different shards
 */
export function checkKeptIndexes(configs: readonly ShardedIndexConfig[]): void {
  const tables = [...new Set(configs.map(({ tableName }) => tableName))];
  if (tables.length !== 1) throw new InvalidArgumentError('indexes', tables, 'at least one index, all of one table');
  for (const config of configs) {
    const { shardAttribute, indexName } = config;
    for (const other of configs) {
      const { valueAttribute = '', sortKeyAttributes } = other;
      const isKey = [valueAttribute, ...sortKeyAttributes].includes(shardAttribute);
      const isShared = other !== config && other.shardAttribute === shardAttribute;
      if (!isKey && (!isShared || haveSameSharding(config, other))) continue;
      const allowed = `another attribute than the shard attribute of ${indexName}`;
      throw new InvalidArgumentError(`indexes: ${other.indexName}`, shardAttribute, allowed);
    }
  }
}
