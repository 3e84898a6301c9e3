import type { AttributeValue, DynamoDbItem, ItemMoveInput, ShardedIndexConfig } from '../../../../../lib/core';
import { CORRECTIONS_AT_ONCE } from '../../../../../lib/core/sharded-index/keeper/correction-allowance';
import { IndexKeeper, type IndexKeeperOptions } from '../../../../../lib/core/sharded-index/keeper/index-keeper';
import { indexStrayOf } from '../../../../../lib/core/sharded-index/strays/index-stray';
import { VirtualClock } from '../../../../../lib/testing';
import { serviceError } from '../../../../../lib/testing/service-error';
import { MemoryKeeperStore } from '../../../../support/fakes/memory-keeper-store';
import { StreamedTable, type StreamView, streamArnOf } from '../../../../support/fakes/streamed-table';
import { indexConfig } from '../../../../support/index-config';

const byStatus = indexConfig({ shards: { default: { write: 4, read: 4 } } });
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const job = (jobId: string, status: string, more: DynamoDbItem = {}): DynamoDbItem => ({
  ...{ jobId: { S: jobId }, status: { S: status }, createdAt: { S: '1' } },
  ...more,
});

interface PlayOptions extends IndexKeeperOptions {
  view?: StreamView;
  indexes?: ShardedIndexConfig[];
  fail?(input: ItemMoveInput): Error | undefined;
}

/** A keeper of a table, and what happens around it. */
function play({ view = 'NEW_IMAGE', fail, indexes = [byStatus], ...options }: PlayOptions = {}) {
  const table = new StreamedTable(['jobId'], view);
  const store = new MemoryKeeperStore();
  const clock = new VirtualClock();
  let reads = 0;
  const client = {
    scan: (input: Parameters<StreamedTable['scan']>[0]) => table.scan(input),
    getItem: (input: Parameters<StreamedTable['getItem']>[0]) => {
      reads += 1;
      return table.getItem(input);
    },
    updateItem: async (input: ItemMoveInput) => {
      const error = fail?.(input);
      if (error !== undefined) throw error;
      return table.updateItem(input);
    },
  };
  const timeOfDay = () => table.timeOfDay + clock.now();
  const keeper = new IndexKeeper(client, indexes, store, { clock, timeOfDay, ...options });
  let delivered = 0;
  return {
    table,
    store,
    clock,
    keeper,
    reads: () => reads,
    /** Delivers the records that were not delivered before. */
    deliver: (signal = new AbortController().signal) => {
      const Records = table.records.slice(delivered);
      delivered = table.records.length;
      return clock.runUntil(keeper.keep({ Records }, signal));
    },
    checkAgain: () => clock.runUntil(keeper.checkAgain(new AbortController().signal)),
    sweep: (signal = new AbortController().signal) => clock.runUntil(keeper.continueSweep(signal)),
    shardOf: (jobId: string) => table.read({ jobId: { S: jobId } })?.shard,
  };
}

const signal = new AbortController().signal;

test.each<[StreamView, number]>([
  ['NEW_IMAGE', 0],
  ['NEW_AND_OLD_IMAGES', 0],
  ['OLD_IMAGE', 2],
  ['KEYS_ONLY', 2],
])(
  'with the view type %s, a keeper corrects a plain item and reads the table %i times for its two records',
  async (view, reads) => {
    const { table, deliver, shardOf, reads: read } = play({ view });
    table.put(job('1', 'open'));
    expect((await deliver()).counts).toMatchObject({ corrected: 1 });
    expect(shardOf('1')).toEqual({ N: expect.stringMatching(/^[0-3]$/) });
    // The keeper's own record causes no write.
    expect((await deliver()).counts).toMatchObject({ right: 1, corrected: 0 });
    expect(read()).toBe(reads);
  },
);

test.each<AttributeValue>([{ N: '7' }, { B: Uint8Array.of(1, 255) }])(
  'a keeper corrects an item with the key %j',
  async (jobId) => {
    const { table, deliver } = play({ view: 'KEYS_ONLY' });
    table.put({ ...job('1', 'open'), jobId });
    expect((await deliver()).counts).toMatchObject({ corrected: 1 });
    expect(table.read({ jobId })?.shard).toBeDefined();
  },
);

/** The table "Queries before the correction" of the guide: how an item is found after a write. */
test.each<[string, string, DynamoDbItem, string | undefined]>([
  ['multi-attribute', 'a new item', {}, 'missing'],
  ['multi-attribute', 'another value', { status: { S: 'done' }, shard: { N: '3' } }, undefined],
  ['multi-attribute', 'another value with fewer shards', { status: { S: 'rare' }, shard: { N: '3' } }, 'outOfRange'],
  ['single-attribute', 'a new item', {}, 'missing'],
  ['single-attribute', 'another value', { status: { S: 'done' }, shard: { S: 'open#3' } }, 'otherValue'],
  ['single-attribute', 'other content', { note: { S: 'new' }, shard: { S: 'open#3' } }, undefined],
])('before the correction in the layout %s, %s has the state of the guide', (keyLayout, _, change, reason) => {
  const byValue = { rare: { write: 1, read: 1 } };
  const shards = { default: { write: 4, read: 4 }, byValue };
  const stray = indexStrayOf(
    indexConfig({ keyLayout: keyLayout as 'multi-attribute', shards }),
    job('1', 'open', change),
  );
  expect([undefined, 'misplaced'].includes(stray?.reason) ? undefined : stray?.reason).toBe(reason);
  expect(stray?.hidden ?? false).toBe(reason !== undefined);
});

test('a keeper leaves an item in a shard that readers query, so that two keepers do not move it back and forth', async () => {
  const { table, deliver, shardOf } = play();
  const shards = ['0', '1', '2', '3'];
  for (const shard of shards) table.put(job(shard, 'open', { shard: { N: shard } }));
  await deliver();
  expect(shards.map(shardOf)).toEqual(shards.map((N) => ({ N })));
  expect(table.updates).toEqual([]);
});

test('with correct: false, a keeper counts and names wrong items, and does not change them', async () => {
  const { table, deliver, keeper } = play({ correct: false });
  table.put(job('1', 'open'));
  expect((await deliver()).counts).toMatchObject({ wrong: 1, corrected: 0 });
  expect(table.updates).toEqual([]);
  expect((await keeper.named()).items).toMatchObject([{ key: { jobId: { S: '1' } }, reason: 'missing' }]);
});

test.each<[string, DynamoDbItem, string]>([
  ['a value of another type', { status: { BOOL: true } }, 'invalidValue'],
  ['the value NULL', { status: { NULL: true } }, 'invalidValue'],
  ['an empty value', { status: { S: '' } }, 'invalidValue'],
  ['a sort key of another type', { createdAt: { L: [] } }, 'noSortKey'],
  ['the sort key NULL', { createdAt: { NULL: true } }, 'noSortKey'],
  ['an empty sort key', { createdAt: { S: '' } }, 'noSortKey'],
])('a keeper counts and names an item with %s, and finishes it', async (_, change, reason) => {
  const { table, deliver, keeper } = play();
  table.put(job('1', 'open', change));
  expect(await deliver()).toMatchObject({ counts: { notKept: 1 }, problems: [] });
  expect((await keeper.named()).items).toMatchObject([{ reason }]);
  expect(table.updates).toEqual([]);
});

test('a keeper counts and names an item without a sort key, and corrects it when a writer adds the sort key', async () => {
  const { table, deliver, keeper, shardOf } = play();
  table.put({ jobId: { S: '1' }, status: { S: 'open' } });
  expect((await deliver()).counts).toMatchObject({ notKept: 1 });
  expect((await keeper.named()).items).toMatchObject([{ reason: 'noSortKey' }]);
  table.put(job('1', 'open'));
  await deliver();
  expect(shardOf('1')).toBeDefined();
});

test.each<AttributeValue>([
  { NULL: true },
  { BS: [Uint8Array.of(1, 255)] },
  { L: [{ M: { bytes: { B: Uint8Array.of(1, 255) } } }] },
])('a keeper removes the shard of an earlier value from an item with the invalid value %j', async (invalid) => {
  const single = indexConfig({ keyLayout: 'single-attribute', shards: { default: { write: 4, read: 4 } } });
  const { table, deliver, shardOf } = play({ indexes: [single] });
  table.put(job('1', 'open'));
  await deliver();
  expect(shardOf('1')).toEqual({ S: expect.stringMatching(/^open#/) });
  table.put({ ...table.read({ jobId: { S: '1' } })!, status: invalid });
  expect((await deliver()).counts).toMatchObject({ corrected: 1, notKept: 1 });
  expect(shardOf('1')).toBeUndefined();
  expect((await deliver()).counts).toMatchObject({ right: 1, notKept: 1 });
});

test.each([
  'One or more parameter values were invalid: Type mismatch for Index Key createdAt Expected: S Actual: N IndexName: byStatus',
  'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
  'One or more parameter values are not valid. A value specified for a secondary index key is not supported.',
])('a keeper does not set an item aside whose key attribute DynamoDB rejects with %j', async (message) => {
  const { table, deliver, keeper } = play({ fail: () => serviceError('ValidationException', message) });
  table.put(job('1', 'open', { createdAt: { N: '1' } }));
  expect(await deliver()).toMatchObject({ counts: { notKept: 1, rejected: 0 }, problems: [] });
  expect((await keeper.named()).items).toMatchObject([{ reason: 'invalidKey' }]);
  expect((await keeper.named()).items[0]).not.toHaveProperty('dueAtMs');
});

test('a keeper removes the shard of an earlier value if the index rejects the new value, and corrects the other indexes', async () => {
  const byUrl = indexConfig({
    ...{ indexName: 'byUrl', keyLayout: 'single-attribute', shardAttribute: 'urlShard', valueAttribute: 'url' },
    shards: { default: { write: 4, read: 4 } },
  });
  const { table, deliver, shardOf } = play({
    indexes: [byUrl, byStatus],
    fail: ({ ExpressionAttributeValues: values = {} }) =>
      Object.values(values).some((value) => /^too long#/.test((value as { S?: string }).S ?? ''))
        ? serviceError('ValidationException', 'One or more parameter values were invalid: Size of hashkey has exceeded')
        : undefined,
  });
  table.put(job('1', 'open', { url: { S: 'too long' }, urlShard: { S: 'short#1' } }));
  expect(await deliver()).toMatchObject({ counts: { notKept: 1, rejected: 0 }, problems: [] });
  expect(table.read({ jobId: { S: '1' } })).not.toHaveProperty('urlShard');
  expect(shardOf('1')).toBeDefined();
  // The records of both corrections cause no further write.
  expect(await deliver()).toMatchObject({ counts: { notKept: 1, corrected: 0 }, problems: [] });
  expect(table.records).toHaveLength(3);
});

test('a keeper names at most 20 items in a minute in addition to items that it sets aside', async () => {
  const { table, deliver, keeper } = play();
  for (let n = 0; n < 100; n++) table.put({ jobId: { S: `${n}` }, status: { NULL: true } });
  expect((await deliver()).counts).toMatchObject({ notKept: 100 });
  expect((await keeper.named()).items).toHaveLength(20);
});

describe('an item whose corrections another program undoes', () => {
  /** Another program writes each image back without the shard attribute, for a number of times. */
  async function exchange(times: number) {
    const played = play();
    for (let n = 0; n < times; n++) {
      played.table.put(job('1', 'open', { note: { N: `${n}` } }));
      await played.deliver();
    }
    return played;
  }

  test('is corrected up to the limit, and is then set aside, while other items are corrected', async () => {
    const { table, deliver, shardOf, store } = await exchange(CORRECTIONS_AT_ONCE + 5);
    expect(table.updates).toHaveLength(CORRECTIONS_AT_ONCE);
    expect([...store.items.values()]).toMatchObject([{ key: { jobId: { S: '1' } }, reason: 'contested' }]);
    table.put(job('2', 'open'));
    await deliver();
    expect(shardOf('2')).toBeDefined();
  });

  test('is corrected again after a wait, and leaves the list when it stays right', async () => {
    const { clock, checkAgain, shardOf, store } = await exchange(CORRECTIONS_AT_ONCE + 1);
    expect(await checkAgain()).toMatchObject({ contested: 1 });
    expect(shardOf('1')).toBeUndefined();
    clock.nowMs += MINUTE_MS;
    expect(await checkAgain()).toMatchObject({ contested: 1 });
    clock.nowMs += MINUTE_MS;
    expect(await checkAgain()).toMatchObject({ contested: 0 });
    expect([...store.items.values()]).toEqual([]);
    expect(shardOf('1')).toBeDefined();
  });
});

test('a keeper sets an item aside that DynamoDB rejects, finishes the batch, and checks the item again less and less often', async () => {
  const { table, deliver, keeper, checkAgain, shardOf } = play({
    fail: ({ Key }) =>
      Key.jobId.S === '1'
        ? serviceError('ValidationException', 'Item size to update has exceeded the maximum allowed size')
        : undefined,
  });
  table.put(job('1', 'open'));
  table.put(job('2', 'open'));
  expect(await deliver()).toMatchObject({ counts: { rejected: 1, corrected: 1 }, problems: [] });
  expect(shardOf('2')).toBeDefined();
  const waits: number[] = [];
  for (let n = 0; n < 8; n++) {
    const dueAtMs = (await keeper.named()).items[0]!.dueAtMs!;
    waits.push((dueAtMs - table.timeOfDay) / MINUTE_MS);
    table.timeOfDay = dueAtMs;
    expect(await checkAgain()).toMatchObject({ rejected: 1, problems: [] });
  }
  expect(waits).toEqual([1, 1, 2, 4, 8, 16, 32, 60]);
});

test.each([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'ReplicatedWriteConflictException',
  'InternalServerError',
  'TimeoutError',
])('a keeper repeats a correction that fails with %s, with growing delays, and sets nothing aside', async (name) => {
  let failures = 8;
  const { table, deliver, shardOf, store, clock } = play({
    random: () => 0.99,
    fail: () => (failures-- > 0 ? serviceError(name, 'later') : undefined),
  });
  table.put(job('1', 'open'));
  expect(await deliver()).toMatchObject({ counts: { corrected: 1 }, problems: [] });
  expect(shardOf('1')).toBeDefined();
  expect([...store.items.values()]).toEqual([]);
  expect(clock.now()).toBeGreaterThan(10_000);
});

test('a batch that runs out of time names the first unfinished record, after which every item is corrected', async () => {
  const isThrottled = new Set(['3', '5']);
  const stop = new AbortController();
  const { table, deliver, shardOf, clock, keeper } = play({
    fail: ({ Key }) =>
      isThrottled.has(Key.jobId.S) ? serviceError('ProvisionedThroughputExceededException', 'hot') : undefined,
  });
  for (let n = 1; n <= 6; n++) table.put(job(`${n}`, 'open'));
  const records = [...table.records];
  clock.schedule(() => stop.abort(), 30_000);
  const { firstUnfinished, problems } = await deliver(stop.signal);
  expect(firstUnfinished).toBe((records[2] as { dynamodb: { SequenceNumber: string } }).dynamodb.SequenceNumber);
  expect(problems).toHaveLength(2);
  isThrottled.clear();
  await clock.runUntil(keeper.keep({ Records: records.slice(2) }, signal));
  for (let n = 1; n <= 6; n++) expect(shardOf(`${n}`)).toBeDefined();
});

describe('a sweep', () => {
  test('cannot start before the keeper has processed a record', async () => {
    await expect(play().keeper.startSweep()).rejects.toMatchObject({ code: 'SWEEP_TOO_EARLY' });
  });

  test('is due after the first record, and corrects all older items', async () => {
    const { table, keeper, deliver, sweep, shardOf } = play();
    for (let n = 0; n < 1_200; n++) table.put(job(`old-${n}`, 'open'));
    table.records.length = 0;
    table.put(job('new', 'open'));
    await deliver();
    expect(await sweep()).toMatchObject({ isDue: true, counts: { corrected: 0 } });
    await keeper.startSweep();
    expect(await sweep()).toMatchObject({ isDue: false, counts: { corrected: 1_200 } });
    for (let n = 0; n < 1_200; n++) expect(shardOf(`old-${n}`)).toBeDefined();
    expect(await sweep()).toMatchObject({ isDue: false, counts: { corrected: 0 } });
  });

  test('that has no time left does not fail while it waits for read units, and continues later within the limit of each minute', async () => {
    const { table, keeper, deliver, sweep, clock } = play({ sweepReadUnitsPerSecond: 1 });
    let units = 0;
    const scan = jest.spyOn(table, 'scan');
    scan.mockImplementation(async (input) => {
      const page = await StreamedTable.prototype.scan.call(table, input);
      units += (page.ConsumedCapacity as { CapacityUnits: number }).CapacityUnits;
      return page;
    });
    const data = { data: { S: 'x'.repeat(3_000) } };
    for (let n = 0; n < 1_200; n++) table.put(job(`old-${n}`, 'open', { ...data, shard: { N: '1' } }));
    table.put(job('new', 'open'));
    await deliver();
    await keeper.startSweep();
    const checked: number[] = [];
    for (let n = 0; n < 100 && (await keeper.sweep()) !== undefined; n++) {
      const stop = new AbortController();
      clock.schedule(() => stop.abort(), 25_000);
      const before = units;
      expect(await sweep(stop.signal)).toMatchObject({ isDue: false, problems: [] });
      expect(units - before).toBeLessThanOrEqual(60);
      checked.push((await keeper.sweep())?.checked ?? 1_201);
      clock.nowMs += MINUTE_MS;
    }
    expect(units).toBeGreaterThan(900);
    expect(checked.at(-1)).toBe(1_201);
  });

  test('continues from its position in another process', async () => {
    const { table, keeper, deliver, sweep, store, clock } = play();
    for (let n = 0; n < 1_200; n++) table.put(job(`old-${n}`, 'open'));
    table.put(job('new', 'open'));
    await deliver();
    await keeper.startSweep();
    const stop = new AbortController();
    const scan = jest.spyOn(table, 'scan').mockImplementation(async (input) => {
      stop.abort();
      return StreamedTable.prototype.scan.call(table, input);
    });
    await sweep(stop.signal);
    scan.mockRestore();
    const other = new IndexKeeper(table, [byStatus], store, { clock });
    await clock.runUntil(other.continueSweep(signal));
    expect(store.state?.sweep).toBeUndefined();
  });

  test.each<[string, (played: ReturnType<typeof play>) => void, string]>([
    [
      'the stream is turned off and on again',
      ({ table }) => {
        for (const record of table.records) {
          (record as { eventSourceARN: string }).eventSourceARN = streamArnOf('Jobs', '2026-02-01T00:00:00.000');
        }
      },
      'anotherStream',
    ],
    [
      'a record is almost as old as the stream keeps records',
      ({ table }) => {
        table.timeOfDay += 23 * HOUR_MS + MINUTE_MS;
      },
      'lateRecords',
    ],
  ])('is due again after %s', async (_, happens, reason) => {
    const played = play();
    const { table, keeper, deliver, sweep, store } = played;
    table.put(job('1', 'open'));
    await deliver();
    await keeper.startSweep();
    await sweep();
    expect(store.state?.sweep).toBeUndefined();
    table.put(job('2', 'open'));
    happens(played);
    await deliver();
    expect(store.state?.sweep).toMatchObject({ reason, isStarted: false });
  });
});

test.each<[unknown, RegExp]>([
  [{}, /event must be the event of a table stream/],
  [{ Records: [{ eventSourceARN: streamArnOf('Others') }] }, /eventSourceARN must be the stream of table Jobs/],
  [{ Records: [{ eventSourceARN: streamArnOf('Jobs'), dynamodb: {} }] }, /Keys must be the table key jobId/],
])('a keeper rejects the event %j', async (event, message) => {
  await expect(play().keeper.keep(event, signal)).rejects.toThrow(message);
});

test.each<[string, ReturnType<typeof indexConfig>[], RegExp]>([
  ['of different tables', [byStatus, indexConfig({ tableName: 'Others', indexName: 'byTime' })], /all of one table/],
  [
    'with the same shard attribute and different counts',
    [byStatus, indexConfig({ indexName: 'byTime', shards: { default: { write: 2, read: 2 } } })],
    /byTime must be another attribute than the shard attribute of byStatus/,
  ],
  [
    'of which one has the shard attribute of the other as its value',
    [byStatus, indexConfig({ indexName: 'byShard', valueAttribute: 'shard', shardAttribute: 'shardShard' })],
    /byShard must be another attribute than the shard attribute of byStatus/,
  ],
])('a keeper rejects indexes %s', (_, indexes, message) => {
  const table = new StreamedTable(['jobId'], 'NEW_IMAGE');
  expect(() => new IndexKeeper(table, indexes, new MemoryKeeperStore())).toThrow(message);
});
