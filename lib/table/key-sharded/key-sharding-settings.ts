import type { IConstruct } from 'constructs';
import { constructField, inConstructTerms } from '../../construct/props';
import { checkTableKey } from '../../core/sharded-index/config/check-sharded-config';
import type { ShardedTableConfig } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexConfigError } from '../../core/sharded-index/config/sharded-index-errors';
import { SHARD_SEPARATOR } from '../../core/sharding/shard-format';
import { itemStrategy } from '../index/item-strategy';
import { requireShardCounts, type ShardCounts } from '../index/shard-counts';

import type { ShardingStrategy } from '../index/sharded-index-options';
import { givenShardFormat, type ShardFormatOptions } from '../shard-format';

/** How a table is sharded by its own key, whether it is created or imported. */
export interface KeyShardingOptions extends ShardFormatOptions {
  /**
   * How many shards each value is spread over.
   *
   * A deployment can change them, and DynamoDB knows nothing of it: change them in the steps of `planTableReshard`, or single
   * items are not found. `cdk diff` shows the change in the metadata of the table, and synthesis warns of a step that is skipped
   * if the context `even-shards:deployedAssembly` names a folder with the template that was deployed.
   */
  readonly shardCounts: ShardCounts;

  /**
   * The attribute in which writers find the value of an item.
   *
   * @default - the partition key: writers give an item with the value there, and the shard is added to it
   */
  readonly valueAttribute?: string;

  /**
   * The attributes that decide the shard of an item, at most four. Items whose values of them are the same share a shard. If they are not
   * part of the key, they must never change, and the sort key alone must tell the items of a value apart. Other attributes need
   * every item to move while nobody writes: see the guide "Sharded tables".
   *
   * @default - the sort key
   */
  readonly shardedBy?: string[];

  /**
   * How writers pick the shard of an item. With random shards, a single item cannot be got, updated or deleted by its sort
   * key: a query finds it.
   *
   * @default ShardingStrategy.CALCULATED
   */
  readonly strategy?: ShardingStrategy;
}

/**
 * What functions and applications read of a table that is sharded by its own key, its defaults filled in.
 *
 * @throws InvalidShardCountError unless there are shard counts
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
      'fixed: a new count changes the keys of items, so shardKey would reject all items of a value that grows';
    throw new InvalidIndexConfigError(constructField(table, 'shardCounts'), 'ShardCounts.adaptive', allowed);
  }
  const strategy = itemStrategy(constructField(table, 'strategy'), options.strategy);
  const [partitionKey = '', ...sortKey] = tableKey;
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
    ...givenShardFormat(table, '', options),
    shards: shardCounts._config,
    strategy,
  };
  inConstructTerms(table, 'sharding', () => checkTableKey(config));
  return config;
}
