import { HASH_KEY_SPACE } from '../../../lib/core';
import { FakeKinesis, type FakeKinesisOptions } from '../../../lib/testing/fake-kinesis';
import { SERVICE_SHARD_LIMITS } from '../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../lib/testing/virtual-clock';

const entry = (PartitionKey: string, data = 'x') => ({ PartitionKey, Data: Buffer.from(data) });

function setUp(options: Partial<FakeKinesisOptions> = {}) {
  const clock = new VirtualClock();
  const kinesis = new FakeKinesis({ clock, ...options });
  const put = (...Records: ReturnType<typeof entry>[]) => kinesis.putRecords({ StreamName: 'Events', Records });
  return { clock, kinesis, put };
}

const codes = ({ Records }: { Records?: { ErrorCode?: string }[] }) => Records?.map(({ ErrorCode }) => ErrorCode);
const THROTTLED = 'ProvisionedThroughputExceededException';

describe('FakeKinesis', () => {
  test('responds after a round trip, and returns the results in the order of the records', async () => {
    const { clock, put } = setUp({ shardCount: 2, roundTripMs: () => 30 });
    const { Records } = await clock.runUntil(put(entry('6'), entry('1')));
    expect(Records!.map(({ ShardId }) => ShardId)).toEqual(['shardId-000000000000', 'shardId-000000000001']);
    expect(clock.nowMs).toBe(30);
  });

  test('stores 1,000 records a second in each shard', async () => {
    const { clock, kinesis, put } = setUp({ shardCount: 2, shardLimits: SERVICE_SHARD_LIMITS, roundTripMs: () => 0 });
    const burst = () => put(...Array.from({ length: 500 }, () => entry('6')));
    await clock.runUntil(Promise.all([burst(), burst(), burst()]));
    expect(kinesis.entries).toMatchObject({ stored: 1_000, throttled: 500 });
    expect(codes(await clock.runUntil(put(entry('1'))))).toEqual([undefined]);
    await clock.runUntil(clock.sleep(1_000));
    expect(codes(await clock.runUntil(burst()))).not.toContain(THROTTLED);
  });

  test('stores a record above the byte limit of one second if no bytes were used before, and then throttles until the limit allows bytes again', async () => {
    const limits = { recordsPerSecond: 1_000, bytesPerSecond: 1_000 };
    const { clock, put } = setUp({ shardLimits: limits, roundTripMs: () => 0 });
    expect(codes(await clock.runUntil(put(entry('a', 'x'.repeat(2_999)))))).toEqual([undefined]);
    await clock.runUntil(clock.sleep(1_900));
    expect(codes(await clock.runUntil(put(entry('a', 'x'))))).toEqual([THROTTLED]);
    await clock.runUntil(clock.sleep(200));
    expect(codes(await clock.runUntil(put(entry('a', 'x'))))).toEqual([undefined]);
  });

  // kinesalite opens the child shards of a split one second after the stream is ACTIVE. The tests of kinesalite have
  // run against AWS.
  test('after a merge, stores records in the parent shards for a while; their sequence numbers are below the end of the parent and below the start of the child', async () => {
    const { clock, kinesis, put } = setUp({ shardCount: 2, parentsTakeMs: 1_000, reshardStepMs: 100 });
    await clock.runUntil(
      kinesis.mergeShards({ ShardToMerge: 'shardId-000000000000', AdjacentShardToMerge: 'shardId-000000000001' }),
    );
    await clock.runUntil(clock.sleep(200));
    expect(kinesis.openShards.map(({ shardId }) => shardId)).toEqual(['shardId-000000000002']);
    const [first, second] = (await clock.runUntil(put(entry('6'), entry('1')))).Records!;
    expect([first!.ShardId, second!.ShardId]).toEqual(['shardId-000000000000', 'shardId-000000000001']);
    await clock.runUntil(clock.sleep(1_000));
    const [third] = (await clock.runUntil(put(entry('6')))).Records!;
    expect(third!.ShardId).toBe('shardId-000000000002');
    const [parent, , child] = kinesis.shards.map((shard) => shard.describe().SequenceNumberRange!);
    const { EndingSequenceNumber: end } = parent!;
    const numbers = [first!.SequenceNumber, end, child!.StartingSequenceNumber, third!.SequenceNumber].map((each) =>
      BigInt(each!),
    );
    expect(numbers.every((number, index) => index === 0 || numbers[index - 1]! < number)).toBe(true);
  });

  test('fails a single entry, or an entry together with all later entries of its shard', async () => {
    const entryFate: FakeKinesisOptions['entryFate'] = ({ Data }) => (String(Data) === 'bad' ? 'failed' : 'stored');
    const records = [entry('6', 'bad'), entry('6'), entry('1')];
    const alone = setUp({ shardCount: 2, entryFate });
    const answer = await alone.clock.runUntil(alone.put(...records));
    expect(codes(answer)).toEqual(['InternalFailure', undefined, undefined]);
    expect(answer.FailedRecordCount).toBe(1);
    const suffix = setUp({ shardCount: 2, entryFate, failsWithIt: 'rest of the shard' });
    expect(codes(await suffix.clock.runUntil(suffix.put(...records)))).toEqual([
      'InternalFailure',
      'InternalFailure',
      undefined,
    ]);
  });

  test.each([
    ['failed', 'InternalFailure', []],
    ['denied', 'AccessDeniedException', []],
    ['answer lost', 'TimeoutError', ['x']],
  ] as const)('with the fate "%s", a request fails with %s and has stored %j', async (fate, name, stored) => {
    const { clock, kinesis, put } = setUp({ requestFate: () => fate });
    await expect(clock.runUntil(put(entry('a')))).rejects.toMatchObject({ name });
    expect(kinesis.allData()).toEqual(stored);
  });

  test('can apply a delayed request after later requests', async () => {
    let held = 1;
    const { clock, kinesis, put } = setUp({ requestFate: () => (held-- > 0 ? { appliedLateByMs: 100 } : 'answered') });
    await expect(clock.runUntil(put(entry('a', '1')))).rejects.toMatchObject({ name: 'TimeoutError' });
    await clock.runUntil(put(entry('a', '2')));
    expect(kinesis.allData()).toEqual(['2']);
    await clock.runOut();
    expect(kinesis.allData()).toEqual(['2', '1']);
  });

  test('rejects more than 500 records and a record of more than 1 MiB', async () => {
    const { clock, put } = setUp();
    const refused = { name: 'ValidationException' };
    await expect(clock.runUntil(put(...Array.from({ length: 501 }, () => entry('a'))))).rejects.toMatchObject(refused);
    await expect(clock.runUntil(put(entry('a', 'x'.repeat(1024 * 1024))))).rejects.toMatchObject(refused);
  });

  test.each([
    ['another stream', { StreamName: 'Odrers' }, 'ResourceNotFoundException'],
    [
      'the ARN of another stream',
      { StreamARN: 'arn:aws:kinesis:eu-west-1:1:stream/Odrers' },
      'ResourceNotFoundException',
    ],
    ['no stream', {}, 'ValidationException'],
  ])('with a name, rejects requests that name %s', async (_, stream, name) => {
    const { clock, kinesis } = setUp({ streamName: 'Orders' });
    await expect(clock.runUntil(kinesis.putRecords({ ...stream, Records: [entry('a')] }))).rejects.toMatchObject({
      name,
    });
    await expect(clock.runUntil(kinesis.describeStreamSummary(stream))).rejects.toMatchObject({ name });
    expect(kinesis.records()).toEqual([]);
  });

  test('rejects an empty partition key', async () => {
    const { clock, put } = setUp();
    await expect(clock.runUntil(put(entry('')))).rejects.toMatchObject({ name: 'ValidationException' });
  });

  test('gives a put with SequenceNumberForOrdering a larger sequence number', async () => {
    const { clock, kinesis } = setUp();
    const input = { StreamName: 'Events', ...entry('a'), SequenceNumberForOrdering: '41' };
    expect((await clock.runUntil(kinesis.putRecord(input))).SequenceNumber).toBe('42');
  });

  test('ignores partition keys and hash keys with the distribution AUTO', async () => {
    const { clock, kinesis, put } = setUp({
      shardCount: 2,
      streamMode: 'ON_DEMAND',
      distribution: 'AUTO',
      random: () => 0.9,
    });
    const { Records } = await clock.runUntil(put(entry('6')));
    expect(Records![0]!.ShardId).toBe('shardId-000000000001');
    const { StreamDescriptionSummary } = await clock.runUntil(kinesis.describeStreamSummary({}));
    expect(StreamDescriptionSummary).toMatchObject({ RecordDistributionStrategy: 'AUTO', OpenShardCount: 2 });
  });

  test('returns the records of parent shards before the records of their child shards', async () => {
    const { clock, kinesis, put } = setUp();
    const explicit = { ...entry('a', 'before'), ExplicitHashKey: String(HASH_KEY_SPACE - 1n) };
    await clock.runUntil(put(explicit));
    const half = String(HASH_KEY_SPACE / 2n);
    await clock.runUntil(kinesis.splitShard({ ShardToSplit: 'shardId-000000000000', NewStartingHashKey: half }));
    await clock.runOut();
    await clock.runUntil(put({ ...explicit, Data: Buffer.from('after') }));
    expect(kinesis.records().map(({ shardId, data }) => [shardId, String(Buffer.from(data))])).toEqual([
      ['shardId-000000000000', 'before'],
      ['shardId-000000000002', 'after'],
    ]);
  });
});

// A rule of kinesalite, which comes from AWS.
test('FakeKinesis checks the arguments of a split before the state of the stream', async () => {
  const { clock, kinesis } = setUp({ shardCount: 2 });
  const split = (shard: number, key: bigint) =>
    clock.runUntil(
      kinesis.splitShard({ ShardToSplit: `shardId-00000000000${shard}`, NewStartingHashKey: String(key) }),
    );
  await split(1, HASH_KEY_SPACE - 2n);
  await expect(split(0, 0n)).rejects.toMatchObject({ name: 'InvalidArgumentException' });
  await expect(split(0, 9n)).rejects.toMatchObject({ name: 'ResourceInUseException' });
});
