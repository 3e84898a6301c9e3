import { FakeCloudWatch, FakeKinesis, VirtualClock } from '../../../lib/testing';

/**
 * Compares the simulated services with responses of AWS that other projects have published. If the data do not change
 * the response, the tests use other data than the published example.
 */
describe('FakeKinesis', () => {
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

  // Sources: the example of describe-stream in the AWS CLI, and the tutorial "API Gateway as a proxy for Kinesis".
  test.each([
    [3, 0, '113427455640312821154458202477256070484'],
    [3, 1, '226854911280625642308916404954512140969'],
    [5, 0, '68056473384187692692674921486353642290'],
    [5, 3, '272225893536750770770699685945414569163'],
  ])('with %i shards has a shard %i that ends at %s', (shardCount, index, end) => {
    expect(stream(shardCount).kinesis.openShards[index]!.range.endingHashKey).toBe(BigInt(end));
  });

  // Source: risingwave#9961 has a picture of a stream after an update from four shards to three.
  test('has the open shards 6, 9 and 10 after an update of four shards to three', async () => {
    const { kinesis, settled } = stream(4);
    const target = { StreamName: 'test', TargetShardCount: 3, ScalingType: 'UNIFORM_SCALING' } as const;
    await settled(kinesis.updateShardCount(target));
    expect(kinesis.openShards.map(({ shardId }) => Number(shardId.slice(-2)))).toEqual([6, 9, 10]);
  });

  // kinesalite#33.
  test('splits a shard at the hash key 170141183460000000000000000000000000000, so that the first child shard ends one hash key before this hash key', async () => {
    const { kinesis, settled } = stream(1);
    const NewStartingHashKey = '170141183460000000000000000000000000000';
    await settled(kinesis.splitShard({ StreamName: 'test', ShardToSplit: 'shardId-000000000000', NewStartingHashKey }));
    expect(kinesis.openShards.map((shard) => shard.describe())).toMatchObject([
      {
        ParentShardId: 'shardId-000000000000',
        HashKeyRange: { EndingHashKey: '170141183459999999999999999999999999999' },
      },
      { ParentShardId: 'shardId-000000000000', HashKeyRange: { StartingHashKey: NewStartingHashKey } },
    ]);
  });

  // kinesalite#109.
  test('rejects a second split of a shard', async () => {
    const { kinesis, settled } = stream(1);
    const split = {
      StreamName: 'test',
      ShardToSplit: 'shardId-000000000000',
      NewStartingHashKey: '170141183460469231731687303715884105727',
    };
    await settled(kinesis.splitShard(split));
    await expect(settled(kinesis.splitShard(split))).rejects.toMatchObject({
      name: 'InvalidArgumentException',
      message: expect.stringContaining('under account 123456789012 has already been merged or split, and thus is not'),
    });
  });
});

/** Cases from the tests of kinesalite (mhart/kinesalite), which have run against AWS. The stream has three shards. */
describe('FakeKinesis in tests that kinesalite also has', () => {
  const THIRD = 113427455640312821154458202477256070485n;
  const id = (number: number) => `shardId-00000000000${number}`;
  const stream = (shardCount = 3) => {
    const clock = new VirtualClock();
    return { clock, kinesis: new FakeKinesis({ clock, streamName: 'test', shardCount }) };
  };
  const entry = (PartitionKey: string, ExplicitHashKey?: bigint) => ({
    PartitionKey,
    Data: Buffer.from(''),
    ...(ExplicitHashKey !== undefined && { ExplicitHashKey: String(ExplicitHashKey) }),
  });

  // test/putRecords.js.
  test('puts records into the shards of their hash keys, with increasing sequence numbers in each shard', async () => {
    const { clock, kinesis } = stream();
    const Records = [
      ...['a', 'b', 'e', 'f'].map((key) => entry(key)),
      entry('a', 2n ** 128n - 1n),
      entry('a', 2n * THIRD - 1n),
      entry('a', 2n * THIRD),
    ];
    const { Records: results } = await clock.runUntil(kinesis.putRecords({ StreamName: 'test', Records }));
    expect(results!.map(({ ShardId }) => ShardId)).toEqual([0, 1, 2, 1, 2, 1, 2].map(id));
    for (const order of [
      [2, 4, 6],
      [1, 3, 5],
    ]) {
      const numbers = order.map((index) => BigInt(results![index]!.SequenceNumber!));
      expect(numbers).toEqual([...numbers].sort((a, b) => (a < b ? -1 : 1)));
    }
  });

  // test/putRecord.js and test/putRecords.js.
  test('rejects an explicit hash key above 2^128 - 1', async () => {
    const { clock, kinesis } = stream();
    const put = { StreamName: 'test', Records: [entry('a', 2n ** 128n)] };
    await expect(clock.runUntil(kinesis.putRecords(put))).rejects.toMatchObject({
      name: 'InvalidArgumentException',
      message: expect.stringContaining('must be in the range: [0, 2^128-1]'),
    });
  });

  // test/splitShard.js.
  test.each([
    [0, 0n, 'InvalidArgumentException'],
    [0, 1n, 'InvalidArgumentException'],
    [0, THIRD - 1n, 'InvalidArgumentException'],
    [2, 999999999999999999999999999999999999999n, 'InvalidArgumentException'],
    [5, 0n, 'ResourceNotFoundException'],
  ])('rejects a split of shard %i at %s: %s', async (shard, key, name) => {
    const { clock, kinesis } = stream();
    const split = { StreamName: 'test', ShardToSplit: id(shard), NewStartingHashKey: String(key) };
    await expect(clock.runUntil(kinesis.splitShard(split))).rejects.toMatchObject({ name });
  });

  // test/splitShard.js.
  test('during a split, puts records into the parent shard, and rejects another split', async () => {
    const { clock, kinesis } = stream(1);
    const split = { StreamName: 'test', ShardToSplit: id(0), NewStartingHashKey: '2' };
    const put = async () => {
      const { Records } = await clock.runUntil(kinesis.putRecords({ StreamName: 'test', Records: [entry('a', 1n)] }));
      return Records![0]!.ShardId;
    };
    await clock.runUntil(kinesis.splitShard(split));
    const { StreamDescriptionSummary } = await clock.runUntil(kinesis.describeStreamSummary({ StreamName: 'test' }));
    expect(StreamDescriptionSummary).toMatchObject({ StreamStatus: 'UPDATING', OpenShardCount: 1 });
    await expect(clock.runUntil(kinesis.splitShard(split))).rejects.toMatchObject({
      name: 'ResourceInUseException',
      message: expect.stringContaining('not ACTIVE, instead in state UPDATING'),
    });
    expect(await put()).toBe(id(0));
    await clock.runUntil(clock.sleep(600_000));
    expect(await put()).toBe(id(1));
    const [parent, ...children] = kinesis.shards.map((shard) => shard.describe());
    expect(children.map(({ HashKeyRange }) => HashKeyRange)).toEqual([
      { StartingHashKey: '0', EndingHashKey: '1' },
      { StartingHashKey: '2', EndingHashKey: String(2n ** 128n - 1n) },
    ]);
    const end = BigInt(parent!.SequenceNumberRange!.EndingSequenceNumber!);
    for (const { SequenceNumberRange } of children) {
      expect(BigInt(SequenceNumberRange!.StartingSequenceNumber!)).toBeGreaterThan(end);
    }
  });

  // test/mergeShards.js.
  test.each([
    [0, 2, 'InvalidArgumentException'],
    [1, 0, 'InvalidArgumentException'],
    [0, 5, 'ResourceNotFoundException'],
  ])('rejects a merge of the shards %i and %i: %s', async (shard, adjacent, name) => {
    const { clock, kinesis } = stream();
    const merge = { StreamName: 'test', ShardToMerge: id(shard), AdjacentShardToMerge: id(adjacent) };
    await expect(clock.runUntil(kinesis.mergeShards(merge))).rejects.toMatchObject({ name });
  });

  // test/mergeShards.js.
  test('merges two shards into one shard that has two parents', async () => {
    const { clock, kinesis } = stream();
    const merge = { StreamName: 'test', ShardToMerge: id(0), AdjacentShardToMerge: id(1) };
    await clock.runUntil(kinesis.mergeShards(merge));
    await clock.runUntil(clock.sleep(600_000));
    expect(kinesis.shards).toHaveLength(4);
    expect(kinesis.shards[3]!.describe()).toMatchObject({
      ShardId: id(3),
      ParentShardId: id(0),
      AdjacentParentShardId: id(1),
      HashKeyRange: { StartingHashKey: '0', EndingHashKey: String(2n * THIRD - 1n) },
    });
  });

  // test/listShards.js.
  test('lists shards after ExclusiveStartShardId, and rejects a token together with a stream name', async () => {
    const { clock, kinesis } = stream();
    const list = (input: object) => clock.runUntil(kinesis.listShards({ StreamName: 'test', ...input }));
    expect((await list({ ExclusiveStartShardId: id(1) })).Shards!.map(({ ShardId }) => ShardId)).toEqual([id(2)]);
    await expect(list({ NextToken: 'next' })).rejects.toMatchObject({
      name: 'InvalidArgumentException',
      message: 'NextToken and StreamName cannot be provided together.',
    });
  });
});

/** The tests of LocalStack, whose snapshots are responses of AWS: tests/aws/services/cloudwatch. */
describe('FakeCloudWatch', () => {
  const MINUTE = 60_000;
  const metric = { Namespace: 'test', MetricName: 'metric1' };
  const valuesOf = async (cloudWatch: FakeCloudWatch, Stat: string, Metric: object = metric) => {
    const { MetricDataResults } = await cloudWatch.getMetricData({
      MetricDataQueries: [{ Id: 'one', MetricStat: { Metric, Period: 60, Stat: Stat as 'Sum' } }],
      StartTime: new Date(0),
      EndTime: new Date(2 * MINUTE),
    });
    return MetricDataResults[0]!.Values;
  };
  const measured = (...values: number[]) => {
    const cloudWatch = new FakeCloudWatch();
    for (const Value of values) cloudWatch.putMetricData({ ...metric, Value, atMs: MINUTE });
    return cloudWatch;
  };

  // test_get_metric_data_stats, and test_get_metric_data_with_zero_and_labels.
  const ELEVEN = Array.from({ length: 11 }, (_, index) => index + 1);
  const SIX = [0, 2, 4, 3.5, 7, 100];
  test.each([
    [ELEVEN, 'Sum', 66],
    [ELEVEN, 'SampleCount', 11],
    [ELEVEN, 'Minimum', 1],
    [ELEVEN, 'Maximum', 11],
    [ELEVEN, 'Average', 6],
    [SIX, 'Sum', 116.5],
    [SIX, 'Minimum', 0],
    [SIX, 'Maximum', 100],
    [SIX, 'Average', 19.416666666666668],
  ])('returns, for the values %j, the %s %d', async (values, statistic, expected) => {
    expect(await valuesOf(measured(...values), statistic)).toEqual([expected]);
  });

  // test_get_metric_with_no_results.
  test('returns no values of a metric under other dimensions', async () => {
    const Dimensions = [{ Name: 'foo', Value: 'bar' }];
    expect(await valuesOf(measured(1), 'Sum', { ...metric, Dimensions })).toEqual([]);
  });

  // test_describe_minimal_metric_alarm, test_put_metric_alarm, test_breaching_alarm_actions.
  test('starts an alarm as INSUFFICIENT_DATA, and changes it to ALARM after the first average above the threshold', async () => {
    const cloudWatch = measured(21, 22);
    const alarm = { ...metric, Statistic: 'Average', Period: 60, ComparisonOperator: 'GreaterThanThreshold' };
    cloudWatch.putMetricAlarm('one', { ...alarm, Threshold: 21, EvaluationPeriods: 1, TreatMissingData: 'ignore' });
    expect(cloudWatch.stateOf('one')).toBe('INSUFFICIENT_DATA');
    cloudWatch.evaluate(2 * MINUTE);
    expect(cloudWatch.stateOf('one')).toBe('ALARM');
  });

  // test_breaching_alarm_actions.
  test('puts an alarm of a metric without values into ALARM if missing data are breaching', () => {
    const cloudWatch = new FakeCloudWatch();
    const alarm = { ...metric, Statistic: 'Average', Period: 60, ComparisonOperator: 'GreaterThanThreshold' };
    cloudWatch.putMetricAlarm('one', { ...alarm, Threshold: 2, EvaluationPeriods: 2, TreatMissingData: 'breaching' });
    cloudWatch.evaluate(MINUTE);
    expect(cloudWatch.stateOf('one')).toBe('ALARM');
  });
});
