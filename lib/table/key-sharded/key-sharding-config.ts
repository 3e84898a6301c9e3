import type { IConstruct } from 'constructs';
import { constructField, inConstructTerms } from '../../construct/construct-field';
import { refuseToken } from '../../construct/refuse-token';
import { checkTableKey, type ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { ShardingStrategy } from '../index/sharding-strategy';
import type { KeyShardingOptions } from './key-sharding-options';

/**
 * What functions and applications read of a table that is sharded by its own key, its defaults filled in.
 *
 * Throws an error with the code `INVALID_INDEX_CONFIG` if the options contradict each other.
 */
export function keyShardingConfig(
  table: IConstruct,
  tableName: string,
  tableKey: readonly string[],
  options: KeyShardingOptions,
): ShardedTableConfig {
  const { separator = '#', firstShard = 0 } = options;
  refuseToken(constructField(table, 'firstShard'), firstShard, 'a whole number');
  if (options.shardCounts._maximum !== undefined) {
    const allowed =
      'fixed: a new count changes the keys of items, so shardKey would refuse all items of a value that grows';
    throw new InvalidIndexConfigError(constructField(table, 'shardCounts'), 'ShardCounts.adaptive', allowed);
  }
  const strategy = `${options.strategy ?? ShardingStrategy.CALCULATED}` as const;
  const [partitionKey = '', ...sortKey] = tableKey;
  const config: ShardedTableConfig = {
    tableName,
    tableKey: [...tableKey],
    keyLayout: 'single-attribute',
    valueAttribute: options.valueAttribute ?? partitionKey,
    shardAttribute: partitionKey,
    sortKeyAttributes: sortKey,
    shardedBy: options.shardedBy ?? (strategy === 'random' ? [] : sortKey),
    separator,
    firstShard,
    shards: options.shardCounts._config,
    strategy,
  };
  inConstructTerms(table, 'sharding', () => checkTableKey(config));
  return config;
}
