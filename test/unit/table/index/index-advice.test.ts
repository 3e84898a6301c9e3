import { App, Lazy, Size, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { type KeyShardedTableProps, ShardCounts, ShardedTable } from '../../../../lib';
import { InvalidArgumentError } from '../../../../lib/core/kernel/errors';
import { invoiceTable } from '../../../support/fakes/invoice-table';
import { warningsOf } from '../../../support/minimal-constructs';

describe('a sharded index with expected traffic', () => {
  let stack: Stack;
  let table: ShardedTable;
  beforeEach(() => {
    stack = new Stack(new App(), 'EvenShards');
    table = new ShardedTable(stack, 'Jobs', { partitionKey: { name: 'jobId', type: AttributeType.STRING } });
  });

  const byTime = { indexName: 'byTime', sortKey: { name: 'createdAt', type: AttributeType.STRING } };
  const byStatus = { ...byTime, indexName: 'byStatus', valueAttribute: { name: 'status', type: AttributeType.STRING } };
  const shares = { succeeded: 70, failed: 29, pending: 1 };

  test('warns if an index without a value attribute has too few shards, with the warning id and the count to set', () => {
    table.addShardedIndex({
      ...byTime,
      shardCounts: ShardCounts.uniform(10),
      expectedTraffic: { writesPerSecond: 5_000 },
    });
    expect(warningsOf(stack)).toEqual([
      'byTime has too few shards for the expected traffic: set its shardCounts to ShardCounts.uniform(75), by the rule "shards that ' +
        'share a partition" [ack: cdk-even-shards:ShardedIndex.tooFewShards]',
    ]);
  });

  test('warns if one value of an index with counts by value has too few shards, and names the counts of all values to set', () => {
    table.addShardedIndex({
      ...byStatus,
      shardCounts: ShardCounts.byValue({ succeeded: 80 }, 1),
      expectedTraffic: { writesPerSecond: 5_000, shares },
    });
    expect(warningsOf(stack)).toEqual([
      expect.stringContaining('set its shardCounts to ShardCounts.byValue({"failed":22,"succeeded":53}, 1)'),
    ]);
  });

  test('warns if the traffic reaches a limit that no shard count can fix', () => {
    table.addShardedIndex({
      ...byTime,
      shardCounts: ShardCounts.uniform(100),
      expectedTraffic: { writesPerSecond: 5_000, partitions: 4 },
    });
    expect(warningsOf(stack)).toEqual([
      expect.stringMatching(/^no shard count of byTime fixes this: 4 partitions are 125% busy.*notFixedByShards\]$/),
    ]);
  });

  test('does not warn if it has the planned counts, no expected traffic, or counts that are tokens', () => {
    const expectedTraffic = { writesPerSecond: 5_000, shares };
    table.addShardedIndex({
      ...byStatus,
      shardCounts: ShardCounts.byValue({ succeeded: 53, failed: 22 }, 1),
      expectedTraffic,
    });
    table.addShardedIndex({ ...byTime, indexName: 'unplanned', shardCounts: ShardCounts.uniform(1) });
    const count = Lazy.number({ produce: () => 1 });
    table.addShardedIndex({
      ...byTime,
      indexName: 'deployed',
      shardCounts: ShardCounts.uniform(count),
      expectedTraffic: { writesPerSecond: 5_000 },
    });
    expect(warningsOf(stack)).toEqual([]);
  });

  test('assumes that all writes go to the value with the most shards if the traffic contains no shares of the values', () => {
    const shardCounts = ShardCounts.byValue({ succeeded: 75 }, 1);
    table.addShardedIndex({ ...byStatus, shardCounts, expectedTraffic: { writesPerSecond: 5_000 } });
    expect(warningsOf(stack)).toEqual([]);
  });

  test('rejects traffic outside its bounds with an error that names the table and the index', () => {
    const shardCounts = ShardCounts.uniform(1);
    const add = () => table.addShardedIndex({ ...byTime, shardCounts, expectedTraffic: { writesPerSecond: -1 } });
    expect(add).toThrow(InvalidArgumentError);
    expect(add).toThrow('EvenShards/Jobs: byTime.expectedTraffic.writesPerSecond must be a number above 0, got -1');
  });
});

describe('the expected traffic of a KeyShardedTable', () => {
  const adviceOf = (
    shardCounts: ShardCounts,
    expectedTraffic: object,
    props: Partial<KeyShardedTableProps> = {},
  ): unknown[] => {
    const stack = new Stack(new App(), 'EvenShards');
    invoiceTable(stack, { shardCounts, expectedTraffic: { writesPerSecond: 5_000, ...expectedTraffic }, ...props });
    return warningsOf(stack);
  };

  test('gives a warning if there are too few shards, with the count to set', () => {
    expect(adviceOf(ShardCounts.uniform(5), {})).toEqual([
      'the table has too few shards for the expected traffic: set its shardCounts to ShardCounts.uniform(75), by the rule "shards that ' +
        'share a partition" [ack: cdk-even-shards:KeyShardedTable.tooFewShards]',
    ]);
    expect(adviceOf(ShardCounts.uniform(75), {})).toEqual([]);
  });

  test('gives a warning if the traffic reaches a limit that no shard count can fix', () => {
    expect(adviceOf(ShardCounts.uniform(75), { partitions: 4 })).toContainEqual(
      expect.stringMatching(
        /^no shard count of the table fixes this: 4 partitions are 125% busy .*KeyShardedTable.notFixedByShards/,
      ),
    );
  });

  test('includes the stored bytes only if the table has a local secondary index', () => {
    const stored = { writesPerSecond: 1, storedSize: Size.gibibytes(500) };
    const localSecondaryIndexes = [{ indexName: 'byDate', sortKey: { name: 'date', type: AttributeType.STRING } }];
    expect(adviceOf(ShardCounts.uniform(5), stored)).toEqual([]);
    expect(adviceOf(ShardCounts.uniform(5), stored, { localSecondaryIndexes })).toEqual([
      expect.stringContaining('set its shardCounts to ShardCounts.uniform(108), by the rule "bytes of a shard"'),
    ]);
  });

  test.each([
    [{ writesPerSecond: -1 }, 'writesPerSecond must be'],
    [
      { itemSize: Size.kibibytes(401) },
      'itemSize must be a size above 0 and at most 400 KiB, the size of the largest item',
    ],
    [{ itemSize: Size.kibibytes(0) }, 'itemSize must be a size above 0 and at most 400 KiB'],
    [{ storedSize: Size.kibibytes(0) }, 'storedSize must be a size above 0, got "0 KiB"'],
  ])('is rejected with %j, which is outside its bounds', (traffic, message) => {
    expect(() => adviceOf(ShardCounts.uniform(5), traffic)).toThrow(InvalidArgumentError);
    expect(() => adviceOf(ShardCounts.uniform(5), traffic)).toThrow(`Invoices: expectedTraffic.${message}`);
  });

  test('can have items of the largest size that DynamoDB allows', () => {
    expect(() => adviceOf(ShardCounts.uniform(5), { writesPerSecond: 1, itemSize: Size.kibibytes(400) })).not.toThrow();
  });
});
