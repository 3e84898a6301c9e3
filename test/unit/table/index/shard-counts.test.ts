import { Lazy } from 'aws-cdk-lib';
import { ShardCounts } from '../../../../lib';
import { InvalidArgumentError, InvalidShardCountError } from '../../../../lib/core/kernel/errors';
import { InvalidIndexValueError } from '../../../../lib/core/sharded-index/config/sharded-index-errors';

describe('ShardCounts', () => {
  test('uniform gives writers and readers the same count for every value', () => {
    expect(ShardCounts.uniform(5)._config).toEqual({ default: { write: 5, read: 5 } });
  });

  test('byValue gives each of the given values its own count, and all other values the default count', () => {
    expect(ShardCounts.byValue({ succeeded: 35, failed: 10 }, 1)._config).toEqual({
      default: { write: 1, read: 1 },
      byValue: { succeeded: { write: 35, read: 35 }, failed: { write: 10, read: 10 } },
    });
  });

  test('alsoReading lets readers also query the shards of the other counts, whether the counts grow or shrink', () => {
    const growing = ShardCounts.uniform(10).alsoReading(ShardCounts.uniform(20));
    expect(growing._config).toEqual({ default: { write: 10, read: 20 } });
    const unchanged = ShardCounts.uniform(20).alsoReading(ShardCounts.uniform(10));
    expect(unchanged._config).toEqual({ default: { write: 20, read: 20 } });
  });

  test('alsoReading and since let readers also find the items of earlier counts', () => {
    const grown = ShardCounts.uniform(6).since(ShardCounts.uniform(5));
    expect(grown._config).toEqual({ default: { write: 6, read: 6, since: 5 } });
    expect(grown.alsoReading(ShardCounts.uniform(8))._config).toEqual({ default: { write: 6, read: 8, since: 5 } });
    expect(ShardCounts.uniform(6).alsoReading(grown)._config).toEqual({ default: { write: 6, read: 6, since: 5 } });
    expect(ShardCounts.uniform(4).alsoReading(grown)._config).toEqual({ default: { write: 4, read: 6 } });
    expect(ShardCounts.uniform(8).since(grown)._config).toEqual({ default: { write: 8, read: 8, since: 5 } });
  });

  test('alsoReading uses the default count for a value without its own count', () => {
    const counts = ShardCounts.byValue({ busy: 9, calm: 2 }, 1).alsoReading(ShardCounts.byValue({ calm: 5 }, 3));
    expect(counts._config).toEqual({
      default: { write: 1, read: 3 },
      byValue: { busy: { write: 9, read: 9 }, calm: { write: 2, read: 5 } },
    });
  });

  test('alsoReading rejects a count that is a token', () => {
    const later = ShardCounts.uniform(Lazy.number({ produce: () => 5 }));
    expect(() => ShardCounts.uniform(1).alsoReading(later)).toThrow(InvalidShardCountError);
    expect(() => ShardCounts.uniform(1).alsoReading(later)).toThrow(
      'shardCounts must be a number that is known at synthesis',
    );
  });

  test('uniform accepts a count that is a token', () => {
    expect(() => ShardCounts.uniform(Lazy.number({ produce: () => 5 }))).not.toThrow();
  });

  const rejecting: [string, (count: number) => ShardCounts, string][] = [
    ['uniform rejects a count', (count) => ShardCounts.uniform(count), 'shardCounts'],
    [
      'byValue rejects the count of a value',
      (count) => ShardCounts.byValue({ failed: count }, 1),
      'shardCounts.byValue["failed"]',
    ],
    ['byValue rejects a default count', (count) => ShardCounts.byValue({}, count), 'shardCounts.default'],
  ];
  test.each(rejecting)('%s below 1 or above 10,000', (_, make, field) => {
    expect(() => make(0)).toThrow(InvalidShardCountError);
    expect(() => make(0)).toThrow(`${field} must be a whole number from 1 to 10000, got 0`);
    expect(() => make(10_001)).toThrow(
      `${field} must be a whole number from 1 to 10000 (a query reads every shard for each page), got 10001`,
    );
  });

  test.each([[null], [5], ['many'], [[1, 2]]])('byValue rejects %j instead of a map of counts', (counts) => {
    const byValue = () => ShardCounts.byValue(counts as never, 1);
    expect(byValue).toThrow(InvalidArgumentError);
    expect(byValue).toThrow('shardCounts.byValue must be an object from value to shard count, got');
  });

  test('byValue rejects the empty string, because DynamoDB rejects an empty key', () => {
    const byValue = () => ShardCounts.byValue({ failed: 10, '': 3 }, 1);
    expect(byValue).toThrow(InvalidIndexValueError);
    expect(byValue).toThrow('shardCounts.byValue must be counts of values that are not empty, got ""');
  });
});
