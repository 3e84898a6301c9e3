import { Token } from 'aws-cdk-lib';
import { InvalidArgumentError, InvalidIndexValueError } from '../core/errors';
import { checkShardCount, MAX_INDEX_SHARDS } from '../core/shard-count';
import type { ShardCount, ShardedIndexConfig } from '../core/write-sharding/sharded-index-config';

/**
 * How many shards each value of an index is spread over.
 *
 * A shard takes 1,000 write units a second and a query asks every shard of its value, so give a value as many as its
 * writes need and no more.
 *
 * Items stay in the shards they were written to. Raising a count therefore loses nothing, provided that readers know
 * the new count before writers do: in a single deployment of both, writers may be first for a moment, and what they put
 * into the new shards is missing from queries until readers follow. Lowering a count hides the items in the shards it
 * takes away until they are written again.
 */
export class ShardCounts {
  /**
   * The same count for every value, or for the whole table if the index has no value.
   *
   * Throws `InvalidShardCountError` unless the count is a whole number from 1 to 10,000.
   *
   * @param count shards of each value
   */
  public static uniform(count: number): ShardCounts {
    return new ShardCounts({ default: shardCount('shards', count) });
  }

  /**
   * A count for each of the busy values, in proportion to their writes, and one for all others.
   *
   * Throws `InvalidShardCountError` unless every count is a whole number from 1 to 10,000, `InvalidIndexValueError` for
   * the empty string, which DynamoDB has in no key, and `InvalidArgumentError` unless the counts are given by value.
   *
   * @param counts shards by value; of a number attribute, the number as JavaScript writes it, such as "7", "-1.5" or
   *   "1e+21"
   * @param defaultCount shards of every other value
   */
  public static byValue(counts: { [value: string]: number }, defaultCount: number): ShardCounts {
    if (typeof counts !== 'object' || counts === null || Array.isArray(counts)) {
      throw new InvalidArgumentError('shards.byValue', counts, 'an object from value to shard count');
    }
    if (Object.hasOwn(counts, '')) {
      throw new InvalidIndexValueError('shards.byValue', '', 'counts of values that are not empty');
    }
    return new ShardCounts({
      default: shardCount('shards.default', defaultCount),
      byValue: Object.fromEntries(
        Object.entries(counts).map(([value, count]) => [
          value,
          shardCount(`shards.byValue[${JSON.stringify(value)}]`, count),
        ]),
      ),
    });
  }

  /** @internal */
  public readonly _config: ShardedIndexConfig['shards'];

  private constructor(config: ShardedIndexConfig['shards']) {
    this._config = config;
  }
}

function shardCount(field: string, count: number): ShardCount {
  if (!Token.isUnresolved(count)) checkShardCount(field, count, MAX_INDEX_SHARDS);
  return { write: count, read: count };
}
