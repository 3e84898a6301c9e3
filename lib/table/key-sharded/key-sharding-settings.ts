import type { IConstruct } from 'constructs';
import { constructField, inConstructTerms } from '../../construct/props';
import { checkTableKey } from '../../core/sharded-index/config/check-sharded-config';
import type { ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { SHARD_SEPARATOR } from '../../core/sharding/shard-format';
import { itemStrategy } from '../index/item-strategy';
import { requireShardCounts, type ShardCounts } from '../index/shard-counts';

import type { ShardingStrategy } from '../index/sharded-index-options';
import { type ShardFormatOptions, shardFormatFrom } from '../shard-format';
import { ALLOWED_ATTRIBUTE, isAttributeName } from '../table-names';

/** Options of a table that is sharded by its own key. The table is new or imported. */
export interface KeyShardingOptions extends ShardFormatOptions {
  /**
   * The number of shards of each value.
   *
   * Change counts in the steps of `planTableReshard`, because otherwise readers do not find some items. `cdk diff` shows the
   * change in the metadata of the table. If the context `even-shards:deployedAssembly` names a folder with the deployed template,
   * synthesis warns when a step is skipped.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The attribute in which writers find the value of an item.
   *
   * @default - the partition key: writers pass an item whose partition key is the value, and the library adds the shard
   */
  readonly valueAttribute?: string;

  /**
   * The attributes from which the shard of an item is calculated, at most four. Items with equal values of these attributes share
   * a shard.
   *
   * Attributes that are not part of the key must never change, and the sort key alone must identify an item among the items of
   * its value. To use other attributes, move all items while no application writes: see the guide "Sharded tables".
   *
   * @default - the sort key
   */
  readonly shardedBy?: string[];

  /**
   * How writers choose the shard of an item. With random shards, an application cannot get, update or delete an item by its sort
   * key, and must query to find it.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}

/**
 * The configuration of a table that is sharded by its own key, for functions and applications, with defaults.
 *
 * @throws InvalidShardCountError if `shardCounts` is missing
 * @throws InvalidIndexConfigError if the options contradict each other
 */
export function keyShardingConfig(
  table: IConstruct,
  tableName: string,
  tableKey: readonly string[],
  options: KeyShardingOptions,
): ShardedTableConfig {
  const { shardCounts } = options;
  requireShardCounts(constructField(table, 'shardCounts'), shardCounts);
  if (shardCounts._maximum !== undefined) {
    const allowed =
      'fixed (a new count changes the keys of items, so shardKey would reject all items of a value whose count increases)';
    throw new InvalidIndexConfigError(constructField(table, 'shardCounts'), 'ShardCounts.adaptive', allowed);
  }
  const strategy = itemStrategy(constructField(table, 'strategy'), options.strategy);
  const [partitionKey = '', ...sortKey] = tableKey;
  if (!tableKey.every(isAttributeName)) {
    const allowed = `attribute names, each ${ALLOWED_ATTRIBUTE}`;
    throw new InvalidIndexConfigError(constructField(table, 'tableKey'), tableKey, allowed);
  }
  const config: ShardedTableConfig = {
    tableName,
    tableKey: [...tableKey],
    keyLayout: 'single-attribute',
    valueAttribute: options.valueAttribute ?? partitionKey,
    shardAttribute: partitionKey,
    sortKeyAttributes: sortKey,
    shardedBy: options.shardedBy ?? (strategy === 'random' ? [] : sortKey),
    separator: SHARD_SEPARATOR,
    firstShard: 0,
    ...shardFormatFrom(table, '', options),
    shards: shardCounts._config,
    strategy,
  };
  inConstructTerms(table, 'sharding', () => checkTableKey(config));
  return config;
}
