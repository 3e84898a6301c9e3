import { FakeKinesis, VirtualClock } from '../../../lib/testing';
import { conditionHolds } from '../../support/fakes/condition';
import { FakeIndex } from '../../support/fakes/fake-index';
import { FakeTable } from '../../support/fakes/fake-table';
import { indexConfig } from '../../support/index-config';

/**
 * What AWS has answered somebody, as they have published it: cases of their kind, with data of our own where the data say nothing.
 * A model that answers otherwise is wrong.
 */
describe('Kinesis', () => {
  const stream = (shardCount: number) => {
    const clock = new VirtualClock();
    const kinesis = new FakeKinesis({ clock, streamName: 'test', shardCount });
    const settled = async <T>(call: Promise<T>): Promise<T> => {
      const answer = await clock.runUntil(call);
      await clock.runUntil(clock.sleep(600_000));
      return answer;
    };
    return { kinesis, settled };
  };

  // The AWS CLI's example of describe-stream, and the tutorial of API Gateway as a proxy for Kinesis.
  test.each([
    [3, 0, '113427455640312821154458202477256070484'],
    [3, 1, '226854911280625642308916404954512140969'],
    [5, 0, '68056473384187692692674921486353642290'],
    [5, 3, '272225893536750770770699685945414569163'],
  ])('of %i shards, number %i ends at %s', (shardCount, index, end) => {
    expect(stream(shardCount).kinesis.openShards[index]!.range.endingHashKey).toBe(BigInt(end));
  });

  // risingwave#9961, a picture of a stream after an update from four shards to three.
  test('an update of four shards to three leaves the shards 6, 9 and 10', async () => {
    const { kinesis, settled } = stream(4);
    const target = { StreamName: 'test', TargetShardCount: 3, ScalingType: 'UNIFORM_SCALING' } as const;
    await settled(kinesis.updateShardCount(target));
    expect(kinesis.openShards.map(({ shardId }) => Number(shardId.slice(-2)))).toEqual([6, 9, 10]);
  });

  // kinesalite#33.
  test('a split at 170141183460000000000000000000000000000 ends its first shard one key before', async () => {
    const { kinesis, settled } = stream(1);
    const NewStartingHashKey = '170141183460000000000000000000000000000';
    await settled(kinesis.splitShard({ ShardToSplit: 'shardId-000000000000', NewStartingHashKey }));
    expect(kinesis.openShards.map((shard) => shard.describe())).toMatchObject([
      {
        ParentShardId: 'shardId-000000000000',
        HashKeyRange: { EndingHashKey: '170141183459999999999999999999999999999' },
      },
      { ParentShardId: 'shardId-000000000000', HashKeyRange: { StartingHashKey: NewStartingHashKey } },
    ]);
  });

  // kinesalite#109.
  test('a shard is not split twice', async () => {
    const { kinesis, settled } = stream(1);
    const split = {
      ShardToSplit: 'shardId-000000000000',
      NewStartingHashKey: '170141183460469231731687303715884105727',
    };
    await settled(kinesis.splitShard(split));
    await expect(settled(kinesis.splitShard(split))).rejects.toMatchObject({
      name: 'InvalidArgumentException',
      message: expect.stringContaining('has already been merged or split, and thus is not eligible'),
    });
  });
});

/** dynalite's tests, which have run against AWS: architect/dynalite, test/query.js. */
describe('a query of DynamoDB', () => {
  const index = new FakeIndex(
    indexConfig({ keyLayout: 'single-attribute', shardAttribute: 'c', sortKeyAttributes: ['d'], tableKey: ['a'] }),
  );
  const ask = (condition: string, start: Record<string, string>) =>
    index.query({
      TableName: 'Jobs',
      IndexName: 'byStatus',
      KeyConditionExpression: `#c = :a${condition}`,
      ExpressionAttributeNames: { '#c': 'c', ...(condition && { '#d': 'd' }) },
      ExpressionAttributeValues: { ':a': { S: 'b' } },
      ExclusiveStartKey: Object.fromEntries(Object.entries(start).map(([name, S]) => [name, { S }])),
      ScanIndexForward: true,
      ReturnConsumedCapacity: 'TOTAL',
    });

  test.each([
    ['that lacks an attribute', '', { a: 'a', c: 'b' }, 'The provided starting key is invalid'],
    ['that has one too many', '', { a: 'a', c: 'b', d: 'a', e: 'a' }, 'The provided starting key is invalid'],
    ['of another partition', '', { a: 'a', c: 'a', d: 'a' }, 'outside query boundaries'],
    ['before its range', ' AND #d > :a', { a: 'a', c: 'b', d: 'a' }, 'does not match the range key predicate'],
    ['before its range, of another partition', ' AND #d > :a', { a: 'a', c: 'a', d: 'a' }, 'does not match the range'],
    ['in its range, of another partition', ' AND #d < :a', { a: 'a', c: 'a', d: 'a' }, 'can return at most one row'],
  ])('refuses a start key %s', async (_, condition, start, message) => {
    await expect(ask(condition, start)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(message),
    });
  });
});

// nubo-db/dynamodb-conformance, whose expectations are what AWS has answered: error-messages/transactWriteItems.
test('a transaction of DynamoDB that writes an item twice is refused as a whole', () => {
  const table = new FakeTable(['pk']);
  const put = { Put: { Item: { pk: { S: 'one' } } } };
  expect(() => table.transact([put, put])).toThrow(
    'Transaction request cannot include multiple operations on one item',
  );
  expect(table.items.size).toBe(0);
});

// nubo-db/dynamodb-conformance: limits/numberPrecision.
test.each([
  ['1.5E2', '150'],
  ['-0', '0'],
  ['1E2', '100'],
])('DynamoDB answers the number %s as %s', (written, read) => {
  const table = new FakeTable(['pk']);
  table.put({ pk: { S: 'one' }, n: { N: written } });
  expect(table.read({ pk: { S: 'one' } })).toEqual({ pk: { S: 'one' }, n: { N: read } });
});

// The developer guide, data types: the order of the values within a set is not preserved.
test('a condition of DynamoDB finds a set equal to itself in another order', () => {
  const names = { ExpressionAttributeNames: { '#s': 's' } };
  const condition = {
    ...names,
    ConditionExpression: '#s = :s',
    ExpressionAttributeValues: { ':s': { SS: ['b', 'a'] } },
  };
  expect(conditionHolds(condition, { s: { SS: ['a', 'b'] } })).toBe(true);
  expect(conditionHolds(condition, { s: { SS: ['a', 'c'] } })).toBe(false);
});
