import { Annotations, type Size, SizeRoundingBehavior, Token } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { inConstructTerms } from '../../construct/props';
import { InvalidArgumentError } from '../../core/kernel/errors';
import { planIndex } from '../../core/planning/plan-index';
import { describeExceeded, SERVICE_LIMITS } from '../../core/planning/service-limits';
import {
  isTableConfig,
  type ShardedConfig,
  type ShardedIndexConfig,
  type ShardedTableConfig,
  shardCountOf,
} from '../../core/sharded-index/config/sharded-index-config';
import { sortedByKey } from './shard-counts';
import type { ExpectedIndexTraffic } from './sharded-index-options';

/**
 * Warns if an index, or one of its values, has fewer shards than the expected traffic needs. Also warns of problems that no
 * number of shards can fix.
 *
 * Gives no advice if a number is a token.
 *
 * @throws an error with the code `INVALID_ARGUMENT` if a number in `traffic` is out of bounds
 */
export function adviseOnIndexShards(
  table: IConstruct,
  config: ShardedIndexConfig,
  traffic: ExpectedIndexTraffic,
): void {
  const { indexName } = config;
  advise(table, config, traffic, {
    construct: 'ShardedIndex',
    name: indexName,
    property: `${indexName}.expectedTraffic`,
  });
}

/** Gives the same advice as `adviseOnIndexShards`, for a table that is sharded by its own key. */
export function adviseOnTableShards(
  table: IConstruct,
  config: ShardedTableConfig,
  traffic: ExpectedIndexTraffic,
  hasLocalSecondaryIndex: boolean,
): void {
  advise(table, config, traffic, {
    construct: 'KeyShardedTable',
    name: 'the table',
    property: 'expectedTraffic',
    hasLocalSecondaryIndex,
  });
}

/** The names of the sharded resource in warnings. */
interface Advised {
  readonly construct: 'ShardedIndex' | 'KeyShardedTable';
  readonly name: string;
  readonly property: string;
  readonly hasLocalSecondaryIndex?: boolean;
}

/** The decimal gigabyte, as in the planner. */
const BYTES_OF_A_GIGABYTE = 1e9;

function advise(
  table: IConstruct,
  config: ShardedConfig,
  { itemSize, storedSize, ...traffic }: ExpectedIndexTraffic,
  { construct, name, property, hasLocalSecondaryIndex }: Advised,
): void {
  const numbers = [...Object.values(traffic), ...Object.values(traffic.shares ?? {})];
  if (itemSize?.isUnresolved() || storedSize?.isUnresolved() || numbers.some(Token.isUnresolved)) return;
  const { shards, byValue, boundBy, notFixed, exceeded } = inConstructTerms(table, property, () =>
    planIndex({
      ...traffic,
      itemKb: itemSize && kibibytesOf('itemSize', itemSize, SERVICE_LIMITS.itemKilobytes.value),
      shares: traffic.shares && sortedByKey(traffic.shares),
      storedGb: storedSize && (kibibytesOf('storedSize', storedSize) * 1_024) / BYTES_OF_A_GIGABYTE,
      hasLocalSecondaryIndex,
    }),
  );
  const tooFew =
    byValue === undefined
      ? mostShards(config) < shards
      : Object.entries(byValue).some(([value, count]) => shardsOf(config, value) < count);
  if (tooFew) {
    const counts =
      byValue && JSON.stringify(Object.fromEntries(Object.entries(byValue).filter(([, count]) => count > 1)));
    const fixed = counts === undefined ? `ShardCounts.uniform(${shards})` : `ShardCounts.byValue(${counts}, 1)`;
    const most = byValue === undefined ? shards : Math.max(...Object.values(byValue));
    const advice = maximumOf(config) === undefined ? fixed : `ShardCounts.adaptive with a maximum of ${most}`;
    Annotations.of(table).addWarningV2(
      `cdk-even-shards:${construct}.tooFewShards`,
      `${name} has too few shards for the expected traffic: set its shardCounts to ${advice}, by the rule "${boundBy}"`,
    );
  }
  for (const limit of exceeded) {
    Annotations.of(table).addWarningV2(
      `cdk-even-shards:${construct}.serviceLimit`,
      `the expected traffic of ${name} exceeds a limit: ${describeExceeded(limit)}`,
    );
  }
  for (const sentence of notFixed) {
    Annotations.of(table).addWarningV2(
      `cdk-even-shards:${construct}.notFixedByShards`,
      `no shard count of ${name} fixes this: ${sentence}`,
    );
  }
}

/** @throws InvalidArgumentError if the size is 0 or too large */
function kibibytesOf(field: keyof ExpectedIndexTraffic, size: Size, max = Infinity): number {
  const kibibytes = size.toKibibytes({ rounding: SizeRoundingBehavior.NONE });
  if (kibibytes > 0 && kibibytes <= max) return kibibytes;
  const most = max === Infinity ? '' : ` and at most ${max} KiB, the size of the largest item`;
  throw new InvalidArgumentError(field, `${kibibytes} KiB`, `a size above 0${most}`);
}

/**
 * Returns infinity for a count that is a token, so that the advice treats the count as sufficient. For an adaptive
 * count, returns the maximum.
 */
function shardsOf(config: ShardedConfig, value: string | undefined): number {
  const most = maximumOf(config) ?? shardCountOf(config, value).write;
  return Token.isUnresolved(most) ? Number.POSITIVE_INFINITY : most;
}

/** The maximum of adaptive counts. Undefined if the counts are fixed. */
function maximumOf(config: ShardedConfig): number | undefined {
  return isTableConfig(config) ? undefined : config.adaptive?.maximum;
}

function mostShards(config: ShardedConfig): number {
  const values = Object.keys(config.shards.byValue ?? {});
  return Math.max(shardsOf(config, undefined), ...values.map((value) => shardsOf(config, value)));
}
