import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AttributeType, ContributorInsightsMode } from 'aws-cdk-lib/aws-dynamodb';
import { ShardCounts, ShardedTable } from '../../../lib';
import {
  areShardsEven,
  BalancedKeyAllocator,
  planIndex,
  randomShard,
  reshardStream,
  uniformRanges,
} from '../../../lib/core';
import { insightMinutes } from '../../../lib/core/adaptive-counts/insight-minutes';
import { scaleStream } from '../../../lib/core/resharding/scale-stream';
import {
  DynamoDbLimits,
  FakeControlPlane,
  FakeKinesis,
  type FakeKinesisOptions,
  HotPartitionTable,
  SERVICE_SHARD_LIMITS,
  seededRandom,
  VirtualClock,
} from '../../../lib/testing';
import { adviceOf } from '../../support/alarms/advice-of';
import { adaptiveConfig } from '../../support/fakes/adaptive-config';

/** What the guide to monitoring says to do about an alarm is done here to its end, and the cause of the alarm is gone. */

const HOUR_MS = 3_600_000;
const clockOfToday = () => {
  const clock = new VirtualClock();
  clock.nowMs = Date.UTC(2026, 10, 21);
  return clock;
};

describe('write throttles of a stream', () => {
  const RECORDS_A_SECOND = 3_000;

  /** How many of ten seconds' records a stream refuses, each key's share sent evenly. */
  async function refused(
    { clock, kinesis }: { clock: VirtualClock; kinesis: FakeKinesis },
    keys: readonly { PartitionKey: string; ExplicitHashKey?: string }[],
  ): Promise<number> {
    const before = kinesis.entries.throttled;
    for (let step = 0; step < 60; step += 1) {
      const Records = Array.from({ length: RECORDS_A_SECOND / 6 }, (_, record) => ({
        ...keys[record % keys.length]!,
        Data: new Uint8Array(10),
      }));
      await clock.runUntil(kinesis.putRecords({ StreamName: 'Events', Records }));
      await clock.runUntil(clock.sleep(1_000 / 6));
    }
    return kinesis.entries.throttled - before;
  }

  function stream(options: Partial<FakeKinesisOptions> = {}) {
    const clock = clockOfToday();
    const limits = { shardLimits: SERVICE_SHARD_LIMITS, keepRecords: false, roundTripMs: () => 0 };
    return { clock, kinesis: new FakeKinesis({ clock, shardCount: 2, ...limits, ...options }) };
  }

  async function reshard({ clock, kinesis }: ReturnType<typeof stream>, shardCount: number): Promise<void> {
    const timeOfDay = () => clock.now();
    await clock.runUntil(reshardStream(kinesis, { streamName: 'Events', shardCount }, { clock, timeOfDay }));
  }

  const balanced = (count: number) => {
    const allocator = new BalancedKeyAllocator();
    return Array.from({ length: count }, (_, owner) => ({
      PartitionKey: `key-${owner}`,
      ExplicitHashKey: String(allocator.allocate()),
    }));
  };

  test('all shards are busy: with more of them nothing is refused', async () => {
    expect(adviceOf('Write throttles of a stream')).toContain('all shards are busy. Give the stream more shards');
    const busy = stream();
    expect(await refused(busy, balanced(64))).toBeGreaterThan(0);
    await reshard(busy, 4);
    expect(await refused(busy, balanced(64))).toBe(0);
  });

  test('one shard is hot with many keys: with explicit hash keys that spread them nothing is refused', async () => {
    expect(adviceOf('Write throttles of a stream')).toContain('Give the keys [explicit hash keys](hash-keys.md)');
    const hot = stream({ shardCount: 4 });
    const { startingHashKey } = uniformRanges(4)[0]!;
    const crowded = balanced(64).map((key, owner) => ({
      ...key,
      ExplicitHashKey: String(startingHashKey + BigInt(owner)),
    }));
    expect(await refused(hot, crowded)).toBeGreaterThan(0);
    expect(await refused(hot, balanced(64))).toBe(0);
  });

  test('one key alone has too much: no number of shards helps, and a key that is divided into several does', async () => {
    expect(adviceOf('Write throttles of a stream')).toContain('no number of shards helps. Divide the key into several');
    const hot = stream();
    await reshard(hot, 64);
    expect(await refused(hot, [{ PartitionKey: 'all' }])).toBeGreaterThan(0);
    expect(await refused(hot, balanced(4))).toBe(0);
  });
});

describe('no updates left', () => {
  test('a shard that is split by hand gives the stream more shards on the same day', async () => {
    expect(adviceOf('No updates left')).toContain('split shards by hand: splits are requests of their own');
    const clock = clockOfToday();
    const kinesis = new FakeControlPlane({ clock, shardCount: 4 });
    const update = (TargetShardCount: number) =>
      kinesis.updateShardCount({ StreamName: 'Events', TargetShardCount, ScalingType: 'UNIFORM_SCALING' });
    for (let times = 0; times < 10; times += 1) {
      await clock.runUntil(update(times % 2 === 0 ? 5 : 4));
      await clock.runUntil(clock.sleep(HOUR_MS / 10));
    }
    await expect(clock.runUntil(update(8))).rejects.toMatchObject({ name: 'LimitExceededException' });

    const { shardId, range } = kinesis.openShards[0]!;
    const NewStartingHashKey = String((range.startingHashKey + range.endingHashKey + 1n) / 2n);
    await clock.runUntil(kinesis.splitShard({ StreamName: 'Events', ShardToSplit: shardId, NewStartingHashKey }));
    await clock.runUntil(clock.sleep(60_000));
    expect(kinesis.openShards).toHaveLength(5);
  });
});

describe('high load at the maximum', () => {
  test('the next run after a higher maximum gives the stream more shards', async () => {
    expect(adviceOf('High load at the maximum')).toContain(
      'Raise `maxCapacity` and deploy. The next run of the function',
    );
    const clock = clockOfToday();
    const kinesis = new FakeControlPlane({ clock, shardCount: 8 });
    const run = async (maxShards: number) => {
      const options = { streamName: 'Events', minShards: 2, maxShards, readLoad: async () => 'high' as const };
      const scaling = await clock.runUntil(scaleStream(kinesis, { ...options, now: clock.now() }));
      await clock.runUntil(clock.sleep(HOUR_MS));
      return scaling;
    };
    await run(8);
    expect(kinesis.openShards).toHaveLength(8);
    await run(16);
    expect(kinesis.openShards.length).toBeGreaterThan(8);
  });
});

describe('uneven shards', () => {
  test('a repair moves the boundaries, and the shards are even', async () => {
    expect(adviceOf('Uneven shards')).toContain('[it moves the boundaries](resharding.md#keep-it-even)');
    const [first, second, ...rest] = uniformRanges(4);
    const merged = { startingHashKey: first!.startingHashKey, endingHashKey: second!.endingHashKey };
    const clock = clockOfToday();
    const kinesis = new FakeControlPlane({ clock, ranges: [merged, ...rest] });
    const ranges = () => kinesis.openShards.map(({ range }) => range);
    expect(areShardsEven(ranges())).toBe(false);
    const repair = reshardStream(
      kinesis,
      { streamName: 'Events', shardCount: 4 },
      { clock, timeOfDay: () => clock.now(), yieldsToOthers: true },
    );
    await clock.runUntil(repair);
    expect(areShardsEven(ranges())).toBe(true);
    expect(ranges()).toHaveLength(4);
  });
});

describe('write throttles of an index', () => {
  test('with as many shards of the value as planIndex says, no partition key refuses a write', () => {
    expect(adviceOf('Write throttles of an index')).toContain(
      '`planIndex` takes the writes a second and the size of an item',
    );
    const [writesPerSecond, itemKb] = [2_400, 1];
    const { shards } = planIndex({ writesPerSecond, itemKb });
    const refusedWith = (count: number): number => {
      let nowMs = 0;
      const limits = new DynamoDbLimits({ now: () => nowMs });
      const random = seededRandom(1);
      let refused = 0;
      for (let write = 0; write < 60 * writesPerSecond; write += 1) {
        nowMs = (write * 1_000) / writesPerSecond;
        const key = `sent#${randomShard(count, random)}`;
        const load = { tableArn: 'Orders', indexName: 'byStatus', key, units: itemKb };
        if (limits.takeWrite([load]) !== undefined) refused += 1;
      }
      return refused;
    };
    expect(refusedWith(1)).toBeGreaterThan(0);
    expect(refusedWith(shards)).toBe(0);
  });

  test('the exception of a refused write names the index and the reason, and no key', () => {
    const advice = adviceOf('Write throttles of an index');
    expect(advice).toContain('have the reason `IndexWriteKeyRangeThroughputExceeded` and the ARN of the index');
    const table = new HotPartitionTable({ tablePartitions: 1_000, indexPartitions: 4, now: () => 0 });
    const writes = () => {
      for (let write = 0; write < 2_000; write += 1) table.putItem(`order-${write}`, 'pending');
    };
    expect(writes).toThrow(
      expect.objectContaining({
        ThrottlingReasons: [{ reason: 'IndexWriteKeyRangeThroughputExceeded', resource: table.indexArn }],
        message: expect.not.stringContaining('pending'),
      }),
    );
  });

  test('the keys that an index is accessed by most are named in the mode of its own that the guide says', () => {
    expect(adviceOf('Write throttles of an index')).toContain(
      'give this mode to `addShardedIndex` as its `contributorInsightsSpecification`',
    );
    const stack = new Stack(new App(), 'It');
    const table = new ShardedTable(stack, 'Orders', { partitionKey: { name: 'id', type: AttributeType.STRING } });
    const options = { shardCounts: ShardCounts.uniform(2) };
    table.addShardedIndex({ indexName: 'byDefault', ...options });
    const mode = ContributorInsightsMode.ACCESSED_AND_THROTTLED_KEYS;
    table.addShardedIndex({
      indexName: 'byTime',
      ...options,
      contributorInsightsSpecification: { enabled: true, mode },
    });
    const insightsOf = (IndexName: string, Mode: string) =>
      Match.objectLike({ IndexName, ContributorInsightsSpecification: { Enabled: true, Mode } });
    Template.fromStack(stack).hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        Match.objectLike({
          GlobalSecondaryIndexes: [insightsOf('byDefault', 'THROTTLED_KEYS'), insightsOf('byTime', mode)],
        }),
      ],
    });
  });

  test('a partition that is full has 180,000 of what Contributor Insights count in a minute', () => {
    expect(adviceOf('Write throttles of an index')).toContain('A key near 180,000 a minute is at the limit');
    const Timestamp = new Date(Date.UTC(2026, 10, 21));
    const minutesOf = (ApproximateValue: number) => {
      const busiest = { Keys: ['open#0'], Datapoints: [{ Timestamp, ApproximateValue }] };
      return insightMinutes(adaptiveConfig, { accessed: [busiest], throttled: [] }, () => 1);
    };
    expect(minutesOf(180_000)[0]!.minutes).toHaveLength(1);
    expect(minutesOf(90_000)[0]!.minutes).toHaveLength(0);
  });
});
