import {
  decreaseShardCount,
  endDrain,
  increaseShardCount,
  ShardCountChangedError,
  type ShardedIndexConfig,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';
import { countText, FakeCountTable, type Fate } from '../../../support/fakes/fake-count-table';

const why = { reason: 'throttled for two minutes', changedBy: 'a test' };
let table: FakeCountTable;
let clock: VirtualClock;
beforeEach(() => {
  table = new FakeCountTable();
  clock = new VirtualClock();
});

const increase = (to: number, { store = table.store(), config = adaptiveConfig } = {}) =>
  increaseShardCount(config, store, { value: 'open', to, ...why }, { clock });

describe('increaseShardCount', () => {
  test('increases the count of readers, and the count of writers 45 seconds later', async () => {
    const done = increase(4);
    await clock.runUntil(new Promise<void>((resolve) => clock.schedule(resolve, 44_999)));
    expect(countText(table.of('open'))).toBe('1/4');
    expect(countText(await clock.runUntil(done))).toBe('4/4');
    expect(clock.now()).toBe(45_000);
  });

  test('stores who changed the count and why', async () => {
    await clock.runUntil(increase(4));
    expect(table.of('open')).toMatchObject({ value: 'open', version: 2, changedAt: expect.any(String), ...why });
  });

  test('changes nothing if the value already has enough shards by its stored count or by the configuration', async () => {
    const shards = { default: { write: 1, read: 1 }, byValue: { open: { write: 8, read: 8 } } };
    expect(await increase(8, { config: { ...adaptiveConfig, shards } })).toBeUndefined();
    await clock.runUntil(increase(4));
    expect(countText(await increase(3))).toBe('4/4');
    expect(table.written).toHaveLength(2);
  });

  test('waits for the full 45 seconds if another process has increased only the count of readers', async () => {
    const crashed = increase(4);
    crashed.catch(() => {});
    await clock.runUntil(new Promise<void>((resolve) => clock.schedule(resolve, 40_000)));
    const again = new VirtualClock();
    const increased = increaseShardCount(
      adaptiveConfig,
      table.store(),
      { value: 'open', to: 4, ...why },
      { clock: again },
    );
    expect(countText(await again.runUntil(increased))).toBe('4/4');
    expect(again.now()).toBe(45_000);
    expect(table.written.map(countText)).toEqual(['1/4', '4/4']);
  });

  test.each<Fate>(['lost', 'sent twice'])('recognises its own write if the response is %s', async (fate) => {
    expect(countText(await clock.runUntil(increase(4, { store: table.store(() => fate) })))).toBe('4/4');
    expect(table.written.map(countText)).toEqual(['1/4', '4/4']);
  });

  test('throws ShardCountChangedError if another process changes the count before each of its writes', async () => {
    const store = { ...table.store(), writeCount: async () => false };
    await expect(clock.runUntil(increase(4, { store }))).rejects.toThrow(ShardCountChangedError);
    // A rejected write has changed nothing, so the function does not wait for other processes.
    expect(clock.now()).toBe(0);
  });

  const fixedCounts: ShardedIndexConfig = { ...adaptiveConfig, version: 1, adaptive: undefined };
  const shardedTable: ShardedIndexConfig = { ...adaptiveConfig, indexName: undefined as never };
  const text = 'x'.repeat(1_024);
  test.each<[string, number, string | undefined, ShardedIndexConfig, string]>([
    ['a count above the maximum', 65, 'open', adaptiveConfig, 'COUNT] to must be a whole number from 1 to 64'],
    ['a missing value', 4, undefined, adaptiveConfig, 'VALUE] value must be a non-empty string or a finite'],
    ['a value that is too long', 4, text, adaptiveConfig, 'VALUE] value must be at most 1023 bytes long'],
    ['an index with fixed counts', 4, 'open', fixedCounts, 'CONFIG] config.adaptive must be'],
    ['a sharded table', 4, 'open', shardedTable, 'CONFIG] config.indexName must be the name of an index'],
  ])('rejects %s', async (_, to, value, config, message) => {
    const increased = increaseShardCount(config, table.store(), { ...(value && { value }), to, ...why });
    await expect(increased).rejects.toThrow(message);
    expect(table.written).toEqual([]);
  });

  test.each([
    ['reason', { reason: '' }],
    ['reason', { reason: 'x'.repeat(501) }],
    ['changedBy', { changedBy: 'x'.repeat(101) }],
  ])('rejects an invalid %s', async (field, wrong) => {
    const increased = increaseShardCount(adaptiveConfig, table.store(), { value: 'open', to: 4, ...why, ...wrong });
    await expect(increased).rejects.toThrow(`${field} must be a text`);
  });

  test.each([
    [1, 1],
    [500, 100],
  ])('accepts a reason of %d characters, a name of %d characters and a value of 1,023 bytes', async (reason, name) => {
    const change = { value: 'v'.repeat(1_023), to: 2, reason: 'x'.repeat(reason), changedBy: 'x'.repeat(name) };
    expect(countText(await clock.runUntil(increaseShardCount(adaptiveConfig, table.store(), change, { clock })))).toBe(
      '2/2',
    );
  });

  test.each([[null]])('rejects %j as a change, as decreaseShardCount and endDrain do', async (change) => {
    const config = adaptiveConfig;
    for (const increased of [
      increaseShardCount(config, table.store(), change as never),
      decreaseShardCount(config, table.store(), change as never),
      endDrain(config, table.store(), change as never),
    ]) {
      await expect(increased).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
  });

  test('increases the count of an index of the whole table, which has one count for all items', async () => {
    const { valueAttribute: _, ...config } = adaptiveConfig;
    const increased = increaseShardCount(config, table.store(), { to: 2, ...why }, { clock });
    expect(await clock.runUntil(increased)).toMatchObject({ value: undefined, write: 2 });
  });
});
