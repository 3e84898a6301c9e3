import {
  AdaptiveIndex,
  type DecreaseShardCountOptions,
  decreaseShardCount,
  endDrain,
  InvalidIndexConfigError,
  increaseShardCount,
  ShardCountChangedError,
  type ShardedIndexConfig,
  shardAttributes,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';
import { countText, FakeCountTable, type Fate } from '../../../support/fakes/fake-count-table';

const why = { value: 'open', reason: 'the season is over', changedBy: 'a test' };
let table: FakeCountTable;
let clock: VirtualClock;
beforeEach(async () => {
  table = new FakeCountTable();
  clock = new VirtualClock();
  await clock.runUntil(increaseShardCount(adaptiveConfig, table.store(), { to: 8, ...why }, { clock }));
  clock = new VirtualClock();
});

const decrease = (to: number, fate: Fate = 'answered') =>
  decreaseShardCount(
    adaptiveConfig,
    table.store(() => fate),
    { to, ...why },
    { clock },
  );
const end = (version: number, fate: Fate = 'answered') =>
  endDrain(
    adaptiveConfig,
    table.store(() => fate),
    { version, ...why },
  );

describe('decreaseShardCount and endDrain', () => {
  test('decrease the count of writers, wait for the writes in flight, and then decrease the count of readers', async () => {
    const decreased = await clock.runUntil(decrease(2));
    expect(countText(decreased)).toBe('2/8');
    expect(clock.now()).toBe(90 * 60_000 + 45_000);
    expect(countText(await end(decreased.version))).toBe('2/2');
  });

  test.each<[string, Partial<ShardedIndexConfig>, DecreaseShardCountOptions, number]>([
    ['without the longest write – waits 90 minutes', {}, {}, 90 * 60],
    ['with the longest write in the configuration – waits as long as this write', { longestWriteSeconds: 30 }, {}, 30],
    [
      'with longestWriteMs – uses longestWriteMs instead of the configuration',
      { longestWriteSeconds: 30 },
      { longestWriteMs: 5_000 },
      5,
    ],
  ])('decreaseShardCount – %s', async (_, part, options, seconds) => {
    const onWait = jest.fn();
    const config = { ...adaptiveConfig, ...part };
    await clock.runUntil(decreaseShardCount(config, table.store(), { to: 2, ...why }, { ...options, onWait, clock }));
    expect(clock.now()).toBe(seconds * 1_000 + 45_000);
    const reason = expect.stringContaining(`may still write to the other shards for ${seconds + 45} seconds`);
    expect(onWait.mock.calls).toEqual([[{ waitMs: seconds * 1_000 + 45_000, reason }]]);
  });

  test('decreaseShardCount – an invocation of 90 minutes writes items after 80 minutes – the drain moves these items', async () => {
    const writer = new AdaptiveIndex(adaptiveConfig, table.store(), { clock, timeOfDay: () => clock.now() });
    const earlier = await clock.runUntil(writer.forWriting('open'));
    let shards: string[] = [];
    clock.schedule(() => {
      const items = Array.from({ length: 100 }, (_, id) => ({ orderId: `o${id}`, status: 'open', createdAt: id }));
      shards = items.map((item) => shardAttributes(earlier, item).byStatusShard as string);
    }, 80 * 60_000);
    const { version } = await clock.runUntil(decrease(2));
    const drained = new Set(shards);
    await end(version);
    await clock.runUntil(clock.sleep(120 * 60_000));
    expect(shards.filter((shard) => !drained.has(shard) && !['open#0', 'open#1'].includes(shard))).toEqual([]);
  });

  test('decreaseShardCount throws ShardCountChangedError if the count changes between its read and its write', async () => {
    const store = { ...table.store(), writeCount: async () => false };
    const decreased = decreaseShardCount(adaptiveConfig, store, { to: 2, ...why }, { clock });
    await expect(clock.runUntil(decreased)).rejects.toThrow(ShardCountChangedError);
  });

  test('reject an index with fixed counts', async () => {
    const fixed = { ...adaptiveConfig, version: 1 as const, adaptive: undefined };
    await expect(decreaseShardCount(fixed, table.store(), { to: 2, ...why })).rejects.toThrow(InvalidIndexConfigError);
    await expect(endDrain(fixed, table.store(), { version: 2, ...why })).rejects.toThrow(InvalidIndexConfigError);
  });

  test('decreaseShardCount waits for the full time again after a restart', async () => {
    decrease(2).catch(() => {});
    await clock.runUntil(new Promise<void>((resolve) => clock.schedule(resolve, 60_000)));
    clock = new VirtualClock();
    const decreased = await clock.runUntil(decrease(2));
    expect(clock.now()).toBe(90 * 60_000 + 45_000);
    expect(decreased.version).toBe(3);
  });

  test.each<Fate>(['lost', 'sent twice'])('recognise their own write if the response is %s', async (fate) => {
    const decreased = await clock.runUntil(decrease(2, fate));
    expect(countText(await end(decreased.version, fate))).toBe('2/2');
    expect(table.written.map(countText)).toEqual(['1/8', '8/8', '2/8', '2/2']);
  });

  test('endDrain rejects a value without a stored count, and a missing version', async () => {
    const drain = { ...why, version: 1 };
    await expect(endDrain(adaptiveConfig, table.store(), { ...drain, value: 'paid' })).rejects.toThrow(
      'value must be a value that has grown, got "paid"',
    );
    await expect(endDrain(adaptiveConfig, table.store(), why as never)).rejects.toThrow(
      'version must be the version that decreaseShardCount returned, got undefined',
    );
  });

  test('endDrain throws ShardCountChangedError if the count of writers was increased after the drain began', async () => {
    const { version } = await clock.runUntil(decrease(2));
    await clock.runUntil(increaseShardCount(adaptiveConfig, table.store(), { to: 4, ...why }, { clock }));
    await expect(end(version)).rejects.toThrow(ShardCountChangedError);
    expect(countText(table.of('open'))).toBe('4/8');
  });

  test('decreaseShardCount rejects a higher count, a value without a stored count, a negative wait and an empty reason', async () => {
    await expect(decrease(9)).rejects.toThrow('to must be a whole number from 1 to 8, got 9');
    const other = decreaseShardCount(adaptiveConfig, table.store(), { ...why, value: 'paid', to: 1 });
    await expect(other).rejects.toThrow('value must be a value that has grown, got "paid"');
    const negative = decreaseShardCount(adaptiveConfig, table.store(), { ...why, to: 1 }, { longestWriteMs: -1 });
    await expect(negative).rejects.toThrow('longestWriteMs must be');
    const withoutReason = decreaseShardCount(adaptiveConfig, table.store(), { ...why, reason: '', to: 1 }, { clock });
    await expect(clock.runUntil(withoutReason)).rejects.toThrow('reason must be a text of 1 to 500 characters');
    expect(table.written.map(countText)).toEqual(['1/8', '8/8']);
  });
});
