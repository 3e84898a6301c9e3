import { InvalidArgumentError } from '../../kernel/errors';
import { checkShardedConfig } from '../config/check-sharded-config';
import { isTableConfig, type ShardedConfig } from '../config/sharded-index-config';
import { InvalidIndexConfigError } from '../config/sharded-index-errors';
import { shardAttributes } from './shard-attributes';

/**
 * Returns the name of the table of these configurations.
 *
 * @throws InvalidArgumentError, or one of its subclasses, if a configuration is invalid, or if the configurations belong to
 *   different tables
 */
export function tableOf(configs: readonly ShardedConfig[]): string {
  const allowed = 'configurations of one table, at least one';
  if (!Array.isArray(configs) || configs.length === 0) throw new InvalidArgumentError('configs', configs, allowed);
  for (const config of configs) checkShardedConfig(config);
  const names = [...new Set(configs.map(({ tableName }) => tableName))];
  if (names.length > 1) throw new InvalidArgumentError('configs', names, allowed);
  const table = configs.find(isTableConfig);
  const byKey = configs.find((config) => !isTableConfig(config) && config.valueAttribute === table?.shardAttribute);
  if (table !== undefined && byKey !== undefined) {
    const another = `another attribute than ${table.shardAttribute}, which holds the shard of the table`;
    throw new InvalidIndexConfigError('config.valueAttribute', byKey.valueAttribute, another);
  }
  return names[0]!;
}

/** Adds the shard of the table and the shard of every index to an item. */
export function itemWithShards(configs: readonly ShardedConfig[], item: object): Record<string, unknown> {
  // Compute the shard of the table first: this shard is part of the table key, which decides the shards of indexes.
  const tableFirst = configs.toSorted((a, b) => Number(isTableConfig(b)) - Number(isTableConfig(a)));
  const sharded: Record<string, unknown> = { ...item };
  for (const config of tableFirst) {
    // Otherwise an item that was read from the table and has lost its value would stay in the index.
    if (!isTableConfig(config)) delete sharded[config.shardAttribute];
    Object.assign(sharded, shardAttributes(config, sharded));
  }
  return sharded;
}
