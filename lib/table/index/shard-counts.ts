import { Token } from 'aws-cdk-lib';
import { InvalidArgumentError, InvalidShardCountError } from '../../core/kernel/errors';
import type { IndexShards, ShardCount } from '../../core/sharded-index/config/sharded-index-config';
import { InvalidIndexValueError } from '../../core/sharded-index/config/sharded-index-errors';
import { checkIndexShardCount } from '../../core/sharding/shard-count';

/** Options of `ShardCounts.adaptive`. */
export interface AdaptiveShardCountsOptions {
  /**
   * How many shards a value has before it grows: a whole number from 1 to 10,000.
   *
   * @default 1
   */
  readonly initial?: number;

  /**
   * The counts of values that have more shards from the beginning, or that had fixed counts before: whole numbers from 1 to
   * 10,000, by value.
   *
   * @default - every value has the initial count
   */
  readonly initialByValue?: { [value: string]: number };

  /**
   * The most shards that a value may grow to: a whole number from 1 to 10,000. A page asks every shard of its value, so
   * this bounds what a page costs. A deployment can increase and decrease it at any time; a value that has more shards keeps them.
   *
   * @default 64
   */
  readonly maximum?: number;
}

/** Each shard takes 1,000 write units a second, and a table 40,000 by its default quota. */
const DEFAULT_MAXIMUM = 64;

/**
 * How many shards each value of an index is spread over.
 *
 * A shard takes 1,000 write units a second and a query asks every shard of its value, so give a value as many as its
 * writes need and no more.
 *
 * Items stay in the shards they were written to, and a deployment reaches readers and writers in no certain order. So
 * change a count in steps, each a deployment of its own, with `alsoReading`:
 *
 * - to grow from 10 to 20: first `ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))`, then
 *   `ShardCounts.uniform(20)`;
 * - to shrink from 20 to 10: first `ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20))`, then, once no item is
 *   left in the shards 10 to 19, because each was written again or has expired, `ShardCounts.uniform(10)`.
 *
 * `planIndexReshard` of `cdk-even-shards/sharded-index` lists the steps of any change, and the guide "Change the shards of an index"
 * says what to wait for between them.
 *
 * If you do not know the count, `ShardCounts.adaptive` lets each value grow while applications run.
 */
export class ShardCounts {
  /**
   * The same count for every value, or for the whole table if the index has no value.
   *
   * @param count shards of each value
   * @throws an error with the code `INVALID_SHARD_COUNT` unless the count is a whole number from 1 to 10,000
   */
  public static uniform(count: number): ShardCounts {
    return new ShardCounts({ default: shardCount('shardCounts', count) });
  }

  /**
   * A count for each of the busy values, in proportion to their writes, and one for all others.
   *
   * @param counts shards by value; of a number attribute, the number as JavaScript writes it, such as "7", "-1.5" or
   *   "1e+21"
   * @param defaultCount shards of every other value
   * @throws an error with the code `INVALID_SHARD_COUNT` unless every count is a whole number from 1 to 10,000,
   *   `INVALID_INDEX_VALUE` for the empty string, which DynamoDB has in no key, and `INVALID_ARGUMENT` unless the counts
   *   are given by value
   */
  public static byValue(counts: { [value: string]: number }, defaultCount: number): ShardCounts {
    return new ShardCounts({
      default: shardCount('shardCounts.default', defaultCount),
      byValue: countsByValue('shardCounts.byValue', counts),
    });
  }

  /**
   * Counts that grow while applications run, each value by itself: a table of counts says how far, and readers and writers
   * follow it without a deployment. The counts that are given here are those before any growth. For indexes only, and for
   * readers and writers in the region of the table.
   *
   * They shrink as little as fixed counts do without a drain: see the guide "Counts that grow by themselves".
   *
   * @param options where counts begin and how far they may grow
   * @throws an error with the code `INVALID_SHARD_COUNT` unless every count is a whole number from 1 to 10,000 and none of
   *   them is greater than the maximum, and what `byValue` throws
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
      throw new InvalidShardCountError('shardCounts.maximum', maximum, `at least ${read}, with which a value begins`);
    }
    return new ShardCounts(from, write);
  }

  /** @internal */
  public readonly _config: IndexShards;

  /**
   * How far counts may grow. Undefined: they are fixed.
   *
   * @internal
   */
  public readonly _maximum?: number;

  private constructor(config: IndexShards, maximum?: number) {
    this._config = config;
    this._maximum = maximum;
  }

  /**
   * These counts for writers, while readers also ask every shard that other counts have: the ones writers had before,
   * whose shards are not drained yet, or the ones they will have next.
   *
   * @param others the counts whose shards readers ask too
   * @throws an error with the code `INVALID_SHARD_COUNT` if the counts are not known before deployment, for they have to be
   *   compared, and for fixed counts if the others are adaptive: nobody knows at synthesis how far those have grown
   */
  public alsoReading(others: ShardCounts): ShardCounts {
    return this.combined(others, withPlacesOf);
  }

  /**
   * These counts for writers of a table that is sharded by its own key, while items of other counts are where those have put
   * them: of the counts that the table had before, or will have next. Readers and writers then know all places of an item.
   *
   * - to grow from 5 to 6: first `ShardCounts.uniform(5).alsoReading(ShardCounts.uniform(6))`, then
   *   `ShardCounts.uniform(6).since(ShardCounts.uniform(5))`, and once `reshardItems` has moved every item, `ShardCounts.uniform(6)`;
   * - to shrink from 6 to 5: first `ShardCounts.uniform(6).since(ShardCounts.uniform(5))`, then
   *   `ShardCounts.uniform(5).since(ShardCounts.uniform(6))`, and once `reshardItems` has moved every item, `ShardCounts.uniform(5)`.
   *
   * @param others the counts whose items are there, or will be
   * @throws an error with the code `INVALID_SHARD_COUNT` if the counts are not known before deployment
   */
  public since(others: ShardCounts): ShardCounts {
    return this.combined(others, (count, other) =>
      withPlacesOf(count, { ...other, since: other.since ?? other.write }),
    );
  }

  private combined(others: ShardCounts, combine: (writers: ShardCount, other: ShardCount) => ShardCount): ShardCounts {
    const [writers, readers] = [this._config, others._config];
    if (this._maximum === undefined && others._maximum !== undefined) {
      throw new InvalidShardCountError('shardCounts', others._maximum, 'a fixed number, or adaptive in both');
    }
    const values = Object.keys(sortedByKey({ ...writers.byValue, ...readers.byValue }));
    const each = (field: string, count: ShardCount, other: ShardCount): ShardCount => {
      checkKnown(field, [count, other]);
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

/** What readers ask, and where items can be, by both counts. */
function withPlacesOf({ write, read, since = write }: ShardCount, other: ShardCount): ShardCount {
  const least = Math.min(since, other.since ?? write);
  return { write, read: Math.max(read, other.read), ...(least < write && { since: least }) };
}

function countOf({ default: others, byValue = {} }: IndexShards, value: string): ShardCount {
  return Object.hasOwn(byValue, value) ? byValue[value]! : others;
}

/** Counts are compared at synthesis. */
function checkKnown(field: string, counts: readonly ShardCount[]): void {
  for (const { read } of counts) {
    if (!Token.isUnresolved(read)) continue;
    throw new InvalidShardCountError(field, read, 'a number that is known at synthesis, to be compared');
  }
}

/**
 * What is not typed can leave the counts out, or give a number.
 *
 * @throws InvalidShardCountError unless there are shard counts
 */
export function requireShardCounts(field: string, counts: unknown): asserts counts is ShardCounts {
  if ((counts as Partial<ShardCounts> | undefined | null)?._config !== undefined) return;
  const allowed =
    'shard counts, such as ShardCounts.uniform(8): there is no default, for only the expected writes say how many';
  throw new InvalidShardCountError(field, counts as number, allowed);
}

function shardCount(field: string, count: number): ShardCount {
  if (!Token.isUnresolved(count)) checkIndexShardCount(field, count);
  return { write: count, read: count };
}

function countsByValue(field: string, counts: { [value: string]: number }): Record<string, ShardCount> {
  if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) {
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
 * The same map in the order of its keys: a map of another language arrives in another order on every run, which must not
 * change a template. Keys compare by UTF-16 code unit, the same in every locale.
 */
export function sortedByKey<V>(map: { readonly [key: string]: V }): { [key: string]: V } {
  return Object.fromEntries(
    Object.keys(map)
      .sort()
      .map((key) => [key, map[key]!]),
  );
}
