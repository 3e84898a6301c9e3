import {
  HASH_KEY_SPACE,
  OrderedProducer,
  type ProducerRecord,
  type PutRecordsClient,
  StreamDistributionError,
} from '../../../../lib/core';
import { type EntryFate, FakeKinesis } from '../../../../lib/testing/fake-kinesis';
import { SERVICE_SHARD_LIMITS } from '../../../../lib/testing/shard-token-bucket';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { codesOf, producerOnFakeStream, record } from './producer-on-fake-stream';

/** Two keys: 6 is in the first of two shards, and 1 is in the second. */
const [FIRST, SECOND] = ['6', '1'];

/** Records whose explicit hash keys are all in one shard. */
function* recordsOfShard(kinesis: FakeKinesis, shard: number, count: number): Generator<ProducerRecord> {
  const { startingHashKey } = kinesis.openShards[shard]!.range;
  for (let index = 0; index < count; index++) {
    yield { ...record(`${shard}/${index}`), explicitHashKey: startingHashKey + BigInt(index) };
  }
}

describe('OrderedProducer and the shards of its stream', () => {
  test('reads no shard map for a single request', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream();
    await clock.runUntil(Promise.all([producer.put(record('a')), producer.put(record('b'))]));
    expect(kinesis.calls).toEqual([]);
  });

  test('reads all pages of the shard map once, before the second request', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ shardCount: 1_200 });
    const listShards = jest.spyOn(kinesis, 'listShards');
    for (let index = 0; index < 5; index++) await clock.runUntil(producer.put(record(String(index))));
    await clock.runUntil(clock.sleep(100));
    // Kinesis rejects a token together with a stream name.
    expect(listShards.mock.calls.map(([input]) => input)).toEqual([
      { StreamName: 'Events', ShardFilter: { Type: 'AT_LATEST' } },
      { NextToken: expect.any(String) },
    ]);
  });

  test('continues without a shard map if it has no permission to list the shards', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ callFate: () => 'failed' });
    await clock.runUntil(producer.putAll(Array.from({ length: 2_000 }, (_, index) => record(String(index)))));
    expect(kinesis.allData()).toHaveLength(2_000);
    expect(kinesis.calls).toEqual(['listShards']);
  });

  test('stays within the limits of each shard, so that almost no record is throttled', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream(
      { shardCount: 4, shardLimits: SERVICE_SHARD_LIMITS },
      { maxBufferedRecords: 100_000 },
    );
    const records = Array.from({ length: 20_000 }, (_, index) => record(String(index)));
    await clock.runUntil(producer.putAll(records));
    expect(kinesis.entries.throttled).toBeLessThan(100);
    // 5,000 records per shard: 1,000 at once and the other 4,000 records in 4 s. MD5 does not distribute keys exactly
    // evenly.
    expect(clock.nowMs).toBeLessThan(4_600);
  });

  test.each([
    ['waits 20 ms for a shard that throttled a record', 'throttled', 40],
    ['does not wait for a shard that rejected a record', 'refused', 20],
  ] as const)('%s', async (_, fate, latencyMs) => {
    let fates: EntryFate[] = [];
    const { clock, kinesis, producer } = producerOnFakeStream({
      roundTripMs: () => 20,
      entryFate: () => fates.shift() ?? 'stored',
    });
    for (const key of ['a', 'b']) await clock.runUntil(producer.put(record(key)));
    await clock.runUntil(clock.sleep(2_000));
    const [failing, next] = [...recordsOfShard(kinesis, 0, 2)] as [ProducerRecord, ProducerRecord];
    fates = [fate];
    producer.put(failing).catch(() => {});
    await clock.runUntil(clock.sleep(21));
    const before = clock.nowMs;
    await clock.runUntil(producer.put(next));
    expect(clock.nowMs - before).toBe(latencyMs);
  });

  test('lets one key use at most a quarter of the buffer, so that records from another source are still sent', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({}, { maxBufferedRecords: 100 });
    const busy = producer.putAll(Array.from({ length: 1_000 }, () => record('busy')));
    await clock.runUntil(producer.putAll(Array.from({ length: 1_000 }, (_, index) => record(`other ${index}`))));
    expect(kinesis.dataOf('busy').length).toBeLessThan(50);
    await clock.runUntil(busy);
  });

  test('during a reshard, stores each record once and keeps the order of each key', async () => {
    const { clock, kinesis, producer } = producerOnFakeStream({ shardCount: 2, shardLimits: SERVICE_SHARD_LIMITS });
    const records = Array.from({ length: 12_000 }, (_, index) => record(String(index % 300), String(index)));
    const summary = producer.putAll(records);
    const input = { StreamName: 'Events', TargetShardCount: 4, ScalingType: 'UNIFORM_SCALING' as const };
    await clock.runUntil(kinesis.updateShardCount(input));
    expect(await clock.runUntil(summary)).toEqual({ delivered: 12_000, rejected: 0 });
    expect(kinesis.openShards).toHaveLength(4);
    expect(kinesis.allData()).toHaveLength(12_000);
    for (let key = 0; key < 300; key++) {
      expect(kinesis.dataOf(String(key)).map(Number)).toEqual(
        Array.from({ length: 40 }, (_, turn) => turn * 300 + key),
      );
    }
    expect(kinesis.calls.filter((call) => call === 'listShards').length).toBeLessThanOrEqual(6);
  });

  describe('with AUTO distribution', () => {
    const AUTO = { shardCount: 2, streamMode: 'ON_DEMAND', distribution: 'AUTO' } as const;

    test('stops if a record arrives in a shard that does not contain its hash key, and a new shard map confirms this', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream({ ...AUTO, random: () => 0 });
      await clock.runUntil(producer.put(record(FIRST)));
      await clock.runUntil(producer.put(record(FIRST)));
      await clock.runUntil(clock.sleep(100));
      expect(await clock.runUntil(producer.put(record(SECOND)))).toMatchObject({ attempts: 1 });
      await clock.runUntil(clock.sleep(100));
      expect(kinesis.calls).toEqual(['listShards', 'listShards']);
      await expect(producer.put(record('c'))).rejects.toThrow(StreamDistributionError);
      await expect(producer.putAll([record('c')])).rejects.toThrow(StreamDistributionError);
    });

    test('stops if the stream summary contains AUTO distribution', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream(AUTO);
      const large = producer.put({ ...record('a'), data: Buffer.alloc(1024 * 1024) });
      await expect(clock.runUntil(large)).rejects.toThrow(StreamDistributionError);
      await expect(producer.put(record('b'))).rejects.toThrow(
        'set its RecordDistributionStrategy to USER_PARTITION_KEY',
      );
      expect(kinesis.requests).toHaveLength(0);
    });
  });

  test('continues if the stream was deleted and created again, and the same shard ids have other hash key ranges', async () => {
    const clock = new VirtualClock();
    const [before, after] = [new FakeKinesis({ clock, shardCount: 2 }), new FakeKinesis({ clock, shardCount: 1 })];
    let kinesis = before;
    const client: PutRecordsClient = {
      putRecords: (input) => kinesis.putRecords(input),
      listShards: (input) => kinesis.listShards(input),
    };
    const producer = new OrderedProducer(client, { streamName: 'Events', clock });
    await clock.runUntil(producer.put(record(FIRST)));
    await clock.runUntil(producer.put(record(FIRST)));
    await clock.runUntil(clock.sleep(100));
    kinesis = after;
    for (let index = 0; index < 3; index++) {
      const beside = { ...record('beside'), explicitHashKey: HASH_KEY_SPACE - 1n };
      await clock.runUntil(Promise.all([record(SECOND), beside].map((each) => producer.put(each))));
      await clock.runUntil(clock.sleep(100));
    }
    expect(after.dataOf(SECOND)).toHaveLength(3);
    expect([before.calls, after.calls]).toEqual([['listShards'], ['listShards']]);
  });

  describe('the record size limit of the stream', () => {
    const large = (bytes: number) => ({ partitionKey: 'a', data: Buffer.alloc(bytes - 1) });
    const MIB = 1024 * 1024;

    test('is assumed to be 1 MiB for a client that cannot read the limit, and larger records are rejected', async () => {
      const { clock, kinesis } = producerOnFakeStream();
      const client = { putRecords: (input: Parameters<typeof kinesis.putRecords>[0]) => kinesis.putRecords(input) };
      const producer = new OrderedProducer(client, { streamName: 'Events', clock });
      await expect(producer.put(large(MIB + 1))).rejects.toThrow('at most 1048576 bytes');
      expect(kinesis.requests).toHaveLength(0);
    });

    test('is read once, for the first record larger than 1 MiB', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream({ maxRecordKiB: 2_048 });
      await clock.runUntil(producer.put(large(MIB)));
      expect(kinesis.calls).toEqual([]);
      const puts = [producer.put(record('a')), producer.put(large(2 * MIB)), producer.put(large(2 * MIB))];
      await clock.runUntil(Promise.all(puts));
      expect(kinesis.calls.filter((call) => call === 'describeStreamSummary')).toHaveLength(1);
      await expect(clock.runUntil(producer.put(large(2 * MIB + 1)))).rejects.toMatchObject({
        code: 'RECORD_TOO_LARGE',
      });
    });

    test.each([
      [false, 'EARLIER_RECORD_FAILED'],
      [true, 'delivered'],
    ])(
      'causes the rejection of each larger record; with skipRejected %s, the next record: %s',
      async (skipRejected, behind) => {
        const { clock, producer } = producerOnFakeStream({}, { skipRejected });
        const puts = [producer.put(record('a', '1')), producer.put(large(MIB + 1)), producer.put(record('a', '2'))];
        const results = await clock.runUntil(Promise.allSettled(puts));
        expect(codesOf(results)).toEqual(['delivered', 'RECORD_TOO_LARGE', behind]);
      },
    );

    test('is also read if a record exceeds 1 MiB only because of its sequence number', async () => {
      const { clock, kinesis, producer } = producerOnFakeStream({}, { sequence: true });
      const puts = [producer.put(large(MIB)), producer.put(record('b'))];
      const results = await clock.runUntil(Promise.allSettled(puts));
      expect(results).toMatchObject([{ reason: { code: 'RECORD_TOO_LARGE' } }, { status: 'fulfilled' }]);
      expect(kinesis.calls).toContain('describeStreamSummary');
    });
  });
});
