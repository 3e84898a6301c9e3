import { Token } from 'aws-cdk-lib';
import { isRecord } from '../../core/kernel/checks';
import { InvalidArgumentError, InvalidShardCountError } from '../../core/kernel/errors';
import type { IndexShards, ShardCount } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexValueError } from '../../core/sharded-index/config/sharded-index-errors';
import { checkIndexShardCount } from '../../core/sharding/shard-count';

/** Options of `ShardCounts.adaptive`. */
export interface AdaptiveShardCountsOptions {
  /**
   * The number of shards of a value before any increase: an integer from 1 to 10,000.
   *
   * @default 1
   */
  readonly initial?: number;

  /**
   * The counts of values that have more shards from the beginning, or that had fixed counts before: integers from 1 to
   * 10,000, by value.
   *
   * @default - every value has the initial count
   */
  readonly initialByValue?: { [value: string]: number };

  /**
   * The maximum number of shards of a value: an integer from 1 to 10,000. A query reads every shard of its value for each page,
   * so the maximum limits the cost of a page. A deployment can increase and decrease the maximum at any time. A value that
   * already has more shards keeps its shards.
   *
   * @default 64
   */
  readonly maximum?: number;
}

/**
 * The default maximum is more than enough at the default quota of a table: 40,000 write units a second need 40 shards of 1,000
 * units.
 */
const DEFAULT_MAXIMUM = 64;

/**
 * The number of shards of each value of an index.
 *
 * A shard accepts 1,000 write units a second, and a query reads every shard of its value. So give a value only as many shards as
 * its writes need.
 *
 * A new count does not move items, and a deployment reaches readers and writers in an unknown order. So
 * change a count in steps, with one deployment for each step, and with `alsoReading`:
 *
 * - to increase from 10 to 20: first `ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))`, then
 *   `ShardCounts.uniform(20)`;
 * - to decrease from 20 to 10: first `ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))`. When each item in
 *   the shards 10 to 19 was written again or has expired, use `ShardCounts.uniform(10)`.
 *
 * `planIndexReshard` of `cdk-even-shards/sharded-index` lists the steps of any change. The guide "Change the shards of an index"
 * describes the conditions between the steps.
 *
 * If you do not know the count, use `ShardCounts.adaptive`, which increases the count of each value without a deployment.
 */
export class ShardCounts {
  /**
   * The same count for every value, or for the whole table if the index has no value.
   *
   * @param count the number of shards of each value
   * @throws an error with the code `INVALID_SHARD_COUNT` if the count is not an integer from 1 to 10,000
   */
  public static uniform(count: number): ShardCounts {
    return new ShardCounts({ default: shardCount('shardCounts', count) });
  }

  /**
   * A count for each busy value, in proportion to its writes, and one count for all other values.
   *
   * @param counts the number of shards of each busy value. For a number attribute, write the value as JavaScript does, such as
   *   "7", "-1.5" or "1e+21"
   * @param defaultCount the number of shards of every other value
   * @throws an error with the code `INVALID_SHARD_COUNT` if a count is not an integer from 1 to 10,000.
   *   `INVALID_INDEX_VALUE` for the empty string, which DynamoDB does not allow in a key. `INVALID_ARGUMENT` if `counts`
   *   is not an object
   */
  public static byValue(counts: { [value: string]: number }, defaultCount: number): ShardCounts {
    return new ShardCounts({
      default: shardCount('shardCounts.default', defaultCount),
      byValue: countsByValue('shardCounts.byValue', counts),
    });
  }

  /**
   * Counts that increase without a deployment, for each value separately. A table holds the increased counts, and readers and
   * writers read that table. The options set the counts before any increase, and the maximum. Only indexes can have adaptive
   * counts, and only readers and writers in the region of the table can use them.
   *
   * To decrease an adaptive count, drain its last shards, as for fixed counts: see the guide to adaptive counts.
   *
   * @param options the initial counts and the maximum
   * @throws an error with the code `INVALID_SHARD_COUNT` if a count is not an integer from 1 to 10,000, or is greater than the
   *   maximum. Also throws the errors of `byValue`
   */
  public static adaptive(options: AdaptiveShardCountsOptions = {}): ShardCounts {
    const { initial = 1, initialByValue, maximum = DEFAULT_MAXIMUM } = options;
    const from: IndexShards = {
      default: shardCount('shardCounts.initial', initial),
      ...(initialByValue !== undefined && { byValue: countsByValue('shardCounts.initialByValue', initialByValue) }),
    };
    const { write } = shardCount('shardCounts.maximum', maximum);
    for (const { read } of [from.default, ...Object.values(from.byValue ?? {})]) {
      if (Token.isUnresolved(write) || Token.isUnresolved(read) || read <= write) continue;
      throw new InvalidShardCountError('shardCounts.maximum', maximum, `at least ${read}, the largest initial count`);
    }
    return new ShardCounts(from, write);
  }

  /** @internal */
  public readonly _config: IndexShards;

  /**
   * The maximum of adaptive counts. Undefined if the counts are fixed.
   *
   * @internal
   */
  public readonly _maximum?: number;

  private constructor(config: IndexShards, maximum?: number) {
    this._config = config;
    this._maximum = maximum;
  }

  /**
   * Returns shard counts with which writers use these counts, and readers also read the shards of `others`. `others` are the
   * previous counts, whose shards are not drained yet, or the next counts of the writers.
   *
   * @param others the counts whose shards readers also read
   * @throws an error with the code `INVALID_SHARD_COUNT` if a count is a token, because counts are compared at synthesis. Also
   *   throws this error if these counts are fixed and `others` are adaptive, because increased counts are unknown at synthesis
   */
  public alsoReading(others: ShardCounts): ShardCounts {
    return this.combined(others, withPlacesOf);
  }

  /**
   * Returns shard counts for a table that is sharded by its own key. Writers use these counts, and items can also be at the
   * places that `others` give them. `others` are the previous or the next counts of the table. Readers and writers then know all
   * places of an item.
   *
   * - to increase from 5 to 6: first `ShardCounts.uniform(5).alsoReading(ShardCounts.uniform(6))`, then
   *   `ShardCounts.uniform(6).since(ShardCounts.uniform(5))`. When `reshardItems` has moved every item, use
   *   `ShardCounts.uniform(6)`;
   * - to decrease from 6 to 5: first `ShardCounts.uniform(6).since(ShardCounts.uniform(5))`, then
   *   `ShardCounts.uniform(5).since(ShardCounts.uniform(6))`. When `reshardItems` has moved every item, use
   *   `ShardCounts.uniform(5)`.
   *
   * @param others the previous or the next counts of the table
   * @throws an error with the code `INVALID_SHARD_COUNT` if a count is a token
   */
  public since(others: ShardCounts): ShardCounts {
    return this.combined(others, (count, other) =>
      withPlacesOf(count, { ...other, since: other.since ?? other.write }),
    );
  }

  private combined(others: ShardCounts, combine: (writers: ShardCount, other: ShardCount) => ShardCount): ShardCounts {
    const [writers, readers] = [this._config, others._config];
    if (this._maximum === undefined && others._maximum !== undefined) {
      throw new InvalidShardCountError('shardCounts', others._maximum, 'fixed in both counts, or adaptive in both');
    }
    const values = Object.keys(sortedByKey({ ...writers.byValue, ...readers.byValue }));
    const each = (field: string, count: ShardCount, other: ShardCount): ShardCount => {
      checkResolved(field, [count, other]);
      return combine(count, other);
    };
    const byValue = values.map((value) => {
      const field = `shardCounts.byValue[${JSON.stringify(value)}]`;
      return [value, each(field, countOf(writers, value), countOf(readers, value))] as const;
    });
    const counts = {
      default: each('shardCounts', writers.default, readers.default),
      ...(byValue.length > 0 ? { byValue: Object.fromEntries(byValue) } : {}),
    };
    return new ShardCounts(counts, this._maximum);
  }
}

/** Readers read the shards of both counts, and items can be at the places of both counts. */
function withPlacesOf({ write, read, since = write }: ShardCount, other: ShardCount): ShardCount {
  const least = Math.min(since, other.since ?? write);
  return { write, read: Math.max(read, other.read), ...(least < write && { since: least }) };
}

function countOf({ default: others, byValue = {} }: IndexShards, value: string): ShardCount {
  return Object.hasOwn(byValue, value) ? byValue[value]! : others;
}

/** Rejects tokens, because counts are compared at synthesis. */
function checkResolved(field: string, counts: readonly ShardCount[]): void {
  for (const { read } of counts) {
    if (!Token.isUnresolved(read)) continue;
    throw new InvalidShardCountError(field, read, 'a number that is known at synthesis (counts are compared there)');
  }
}

/**
 * Checks the type at run time, because callers in JavaScript can leave the counts out, or pass a number.
 *
 * @throws InvalidShardCountError if `counts` is not a `ShardCounts`
 */
export function requireShardCounts(field: string, counts: unknown): asserts counts is ShardCounts {
  if ((counts as Partial<ShardCounts> | undefined | null)?._config !== undefined) return;
  const allowed =
    'shard counts, such as ShardCounts.uniform(8) (the expected writes determine the count, so there is no default)';
  throw new InvalidShardCountError(field, counts as number, allowed);
}

function shardCount(field: string, count: number): ShardCount {
  if (!Token.isUnresolved(count)) checkIndexShardCount(field, count);
  return { write: count, read: count };
}

function countsByValue(field: string, counts: { [value: string]: number }): Record<string, ShardCount> {
  if (!isRecord(counts)) {
    throw new InvalidArgumentError(field, counts, 'an object from value to shard count');
  }
  if (Object.hasOwn(counts, '')) throw new InvalidIndexValueError(field, '', 'counts of values that are not empty');
  return Object.fromEntries(
    Object.entries(sortedByKey(counts)).map(([value, count]) => [
      value,
      shardCount(`${field}[${JSON.stringify(value)}]`, count),
    ]),
  );
}

/**
 * Sorts a map by its keys. A map from another language can have another order in each run. The sorted order keeps the
 * template the same. Keys are compared by UTF-16 code unit, independent of the locale.
 */
export function sortedByKey<V>(map: { readonly [key: string]: V }): { [key: string]: V } {
  return Object.fromEntries(
    Object.keys(map)
      .sort()
      .map((key) => [key, map[key]!]),
  );
}
