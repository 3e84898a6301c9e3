import { queryMetrics } from '../../../lambda/query-fanout/query-metrics';
import {
  areShardsEven,
  BalancedKeyAllocator,
  cachedQueryClient,
  type DynamoDbItem,
  fanOutQuery,
  planIndex,
  type QueryClient,
  randomShard,
  reshardStream,
  type ShardedTableConfig,
  shardAttributes,
  uniformRanges,
} from '../../../lib/core';
import { scaleStream } from '../../../lib/core/resharding/scale-stream';
import {
  DynamoDbLimits,
  FakeControlPlane,
  FakeKinesis,
  SERVICE_SHARD_LIMITS,
  seededRandom,
  VirtualClock,
} from '../../../lib/testing';
import { AlarmInPlay } from '../../support/alarms/alarm-in-play';
import { EventSource } from '../../support/fakes/event-source';
import { FakeIndex } from '../../support/fakes/fake-index';
import { invoices } from '../../support/fakes/invoices';
import { indexConfig } from '../../support/index-config';

/**
 * The name of each test, or of its group, is the heading of an alarm in docs/guides/monitoring.md. The test follows the advice
 * below this heading until the alarm ends.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function clockOfToday(): VirtualClock {
  const clock = new VirtualClock();
  clock.nowMs = Date.UTC(2026, 10, 21);
  return clock;
}

/** Keys that are spread evenly over a stream. */
function balancedKeys(count: number) {
  const allocator = new BalancedKeyAllocator();
  return Array.from({ length: count }, (_, owner) => ({
    PartitionKey: `key-${owner}`,
    ExplicitHashKey: String(allocator.allocate()),
  }));
}

describe('Write throttles of a stream', () => {
  const RECORDS_A_SECOND = 3_000;

  function streamOf(shardCount: number) {
    const clock = clockOfToday();
    const limits = { shardLimits: SERVICE_SHARD_LIMITS, keepRecords: false, roundTripMs: () => 0 };
    const kinesis = new FakeKinesis({ clock, shardCount, ...limits });
    /** The number of throttled records in ten seconds. Each key gets the same number of records. */
    const throttled = async (keys: readonly { PartitionKey: string; ExplicitHashKey?: string }[]): Promise<number> => {
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
    };
    const reshard = (target: number) =>
      clock.runUntil(
        reshardStream(kinesis, { streamName: 'Events', shardCount: target }, { clock, timeOfDay: () => clock.now() }),
      );
    return { throttled, reshard };
  }

  test('all shards are busy: more shards end the throttles', async () => {
    const { throttled, reshard } = streamOf(2);
    expect(await throttled(balancedKeys(64))).toBeGreaterThan(0);
    await reshard(4);
    expect(await throttled(balancedKeys(64))).toBe(0);
  });

  test('one shard is hot: explicit hash keys end the throttles', async () => {
    const { throttled } = streamOf(4);
    const { startingHashKey } = uniformRanges(4)[0]!;
    const crowded = balancedKeys(64).map((key, owner) => ({
      ...key,
      ExplicitHashKey: String(startingHashKey + BigInt(owner)),
    }));
    expect(await throttled(crowded)).toBeGreaterThan(0);
    expect(await throttled(balancedKeys(64))).toBe(0);
  });

  test('one key is hot: 64 shards do not end the throttles, but four keys instead of the hot key do', async () => {
    const { throttled, reshard } = streamOf(2);
    await reshard(64);
    expect(await throttled([{ PartitionKey: 'all' }])).toBeGreaterThan(0);
    expect(await throttled(balancedKeys(4))).toBe(0);
  });
});

test('A consumer is behind: a higher parallelization factor lets it catch up', async () => {
  const clock = clockOfToday();
  const kinesis = new FakeKinesis({ clock, shardCount: 2, roundTripMs: () => 0 });
  const alarm = new AlarmInPlay('EventsConsumerBehind');
  const source = new EventSource(
    clock,
    () => kinesis.shards,
    (batch) => clock.sleep(batch.length * 5_000),
  );
  const keys = balancedKeys(60);
  const hours = async (count: number): Promise<boolean> => {
    for (let minute = 0; minute < 60 * count; minute++) {
      const Records = keys.map((key) => ({ ...key, Data: new Uint8Array(1) }));
      await clock.runUntil(kinesis.putRecords({ StreamName: 'Events', Records }));
      await clock.runUntil(clock.sleep(MINUTE_MS));
      const IteratorAge = Math.max(0, ...source.waiting.map(({ arrivedAtMs }) => clock.now() - arrivedAtMs));
      alarm.minute({ IncomingRecords: Records.length, IteratorAge });
    }
    return alarm.isRaised;
  };
  const settings = { retentionMs: 24 * HOUR_MS, atTipMs: 10_000, behindMs: 10_000 };
  await source.start({ ...settings, workers: 1 });
  expect(await hours(3)).toBe(true);
  await source.start({ ...settings, workers: 10 });
  expect(await hours(3)).toBe(false);
});

test('No updates left: splitting a shard by hand adds a shard on the same day', async () => {
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
  await clock.runUntil(clock.sleep(MINUTE_MS));
  expect(kinesis.openShards).toHaveLength(5);
});

test('High load at the maximum: the next run after an increase of the maximum adds shards', async () => {
  const clock = clockOfToday();
  const kinesis = new FakeControlPlane({ clock, shardCount: 8 });
  const run = async (maxShards: number) => {
    const options = { streamName: 'Events', minShards: 2, maxShards, readLoad: async () => 'high' as const };
    await clock.runUntil(scaleStream(kinesis, { ...options, now: clock.now() }));
    await clock.runUntil(clock.sleep(HOUR_MS));
  };
  await run(8);
  expect(kinesis.openShards).toHaveLength(8);
  await run(16);
  expect(kinesis.openShards.length).toBeGreaterThan(8);
});

test('Uneven shards: a repair moves the boundaries until the shards are even', async () => {
  const [first, second, ...rest] = uniformRanges(4);
  const merged = { startingHashKey: first!.startingHashKey, endingHashKey: second!.endingHashKey };
  const clock = clockOfToday();
  const kinesis = new FakeControlPlane({ clock, ranges: [merged, ...rest] });
  const ranges = () => kinesis.openShards.map(({ range }) => range);
  expect(areShardsEven(ranges())).toBe(false);
  const options = { clock, timeOfDay: () => clock.now(), yieldsToOthers: true };
  await clock.runUntil(reshardStream(kinesis, { streamName: 'Events', shardCount: 4 }, options));
  expect(areShardsEven(ranges())).toBe(true);
  expect(ranges()).toHaveLength(4);
});

describe('write throttles of a partition', () => {
  const WRITES_A_SECOND = 2_400;
  const { shards } = planIndex({ writesPerSecond: WRITES_A_SECOND, itemKb: 1 });

  /** The number of throttled writes in five seconds. */
  function throttled(keyOf: (write: number) => string): number {
    let nowMs = 0;
    const limits = new DynamoDbLimits({ now: () => nowMs });
    let count = 0;
    for (let write = 0; write < 5 * WRITES_A_SECOND; write += 1) {
      nowMs = (write * 1_000) / WRITES_A_SECOND;
      if (limits.takeWrite([{ tableArn: 'Orders', key: keyOf(write), units: 1 }]) !== undefined) count += 1;
    }
    return count;
  }

  test('Write throttles of an index: the shards of planIndex end the throttles', () => {
    const random = seededRandom(1);
    const inShards = (count: number) => throttled(() => `sent#${randomShard(count, random)}`);
    expect(inShards(1)).toBeGreaterThan(0);
    expect(inShards(shards)).toBe(0);
  });

  test('Write throttles of a table: the throttles end only if the table has more shards, and if its items differ in the `shardedBy` attributes', () => {
    const inShards = (count: number, config: ShardedTableConfig = invoices) =>
      throttled((write) => {
        const ClientTransactionId = `transaction-${write}`;
        const item = { InvoiceNumber: '121212', ClientTransactionId, client: 'client-1' };
        const keyed = { ...config, shards: { default: { write: count, read: count } } };
        return String(shardAttributes(keyed, item).InvoiceNumber);
      });
    expect(inShards(2)).toBeGreaterThan(0);
    expect(inShards(64, { ...invoices, shardedBy: ['client'] })).toBeGreaterThan(0);
    expect(inShards(shards)).toBe(0);
  });
});

describe('Read throttles of a table', () => {
  const PAGES_A_SECOND = 300;

  /** Reads an invoice of 50 transactions for three seconds. Returns the number of throttled reads. */
  async function throttled(options: { limit?: number; isCached?: boolean } = {}): Promise<number> {
    const clock = new VirtualClock();
    const config = { ...invoices, shards: { default: { write: 5, read: 5 } } };
    const table = new FakeIndex(config);
    for (let transaction = 0; transaction < 50; transaction += 1) {
      const ClientTransactionId = `transaction-${transaction}`;
      const { InvoiceNumber } = shardAttributes(config, { InvoiceNumber: '121212', ClientTransactionId });
      table.put({
        InvoiceNumber: { S: String(InvoiceNumber) },
        ClientTransactionId: { S: ClientTransactionId },
        text: { S: 'x'.repeat(10_000) },
      });
    }
    const limits = new DynamoDbLimits({ now: () => clock.now() });
    let count = 0;
    const direct: QueryClient = {
      async query(input) {
        const load = { tableArn: 'Invoices', key: JSON.stringify(input.ExpressionAttributeValues) };
        if (limits.refuseRead(load) !== undefined) count += 1;
        const output = await table.query(input);
        limits.noteRead({ ...load, units: output.ConsumedCapacity?.CapacityUnits ?? 0 });
        return output;
      },
    };
    const client = options.isCached ? cachedQueryClient(direct, new Map<string, string>()) : direct;
    for (let page = 0; page < 3 * PAGES_A_SECOND; page += 1) {
      await fanOutQuery(client, config, { value: '121212', limit: options.limit });
      await clock.runUntil(clock.sleep(1_000 / PAGES_A_SECOND));
    }
    return count;
  }

  test('the throttles end if pages are smaller, or if a cache has the pages', async () => {
    expect(await throttled()).toBeGreaterThan(0);
    expect(await throttled({ limit: 10 })).toBe(0);
    expect(await throttled({ isCached: true })).toBe(0);
  });
});

test('Filters hide what pages read: an index that contains only the matching items returns the same items without a filter, and ends the alarm', async () => {
  const [JOBS, SHARDS] = [2_000, 4];
  const jobs: DynamoDbItem[] = Array.from({ length: JOBS }, (_, job) => ({
    jobId: { S: `job-${job}` },
    shard: { N: String(job % SHARDS) },
    createdAt: { N: String(job) },
    ...(job % 100 === 0 && { state: { S: 'failed' }, failedAt: { N: String(job) } }),
  }));
  const queryBy = (sortKey: string) => {
    const config = indexConfig({
      shardAttribute: 'shard',
      sortKeyAttributes: [sortKey],
      shards: { default: { write: SHARDS, read: SHARDS } },
      valueAttribute: undefined,
    });
    const index = new FakeIndex(config);
    for (const job of jobs) if (sortKey in job) index.put(job);
    return (filter = {}) => fanOutQuery(index, config, filter);
  };
  const filtered = await queryBy('createdAt')({
    filterExpression: '#state = :failed',
    expressionAttributeNames: { '#state': 'state' },
    expressionAttributeValues: { ':failed': { S: 'failed' } },
  });
  const ofItsOwn = await queryBy('failedAt')();
  expect(ofItsOwn.items.map(({ jobId }) => jobId)).toEqual(filtered.items.map(({ jobId }) => jobId));

  const rings = (page: typeof filtered): boolean => {
    const alarm = new AlarmInPlay('QueryHiddenItems');
    for (let minute = 0; minute < 360; minute++) alarm.minute(queryMetrics(page));
    return alarm.isRaised;
  };
  expect([rings(filtered), rings(ofItsOwn)]).toEqual([true, false]);
});
