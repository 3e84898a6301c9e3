import {
  AdaptiveIndex,
  calculatedShard,
  type DynamoDbItem,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  InvalidIndexConfigError,
  increaseShardCount,
  reshardItems,
  type ShardedConfig,
  shardAttributes,
  shardPut,
  shardUpdate,
} from '../../../../lib/core';
import { VirtualClock } from '../../../../lib/testing/virtual-clock';
import { allOf } from '../../../support/all-of';
import { adaptiveConfig } from '../../../support/fakes/adaptive-config';
import { FakeCountTable } from '../../../support/fakes/fake-count-table';
import { FakeIndex } from '../../../support/fakes/fake-index';

const why = { reason: 'throttled', changedBy: 'a test' };

/** Simulates an index, its table of counts, and several applications. All of them use the same virtual clock. */
class Play {
  readonly clock = new VirtualClock();
  readonly counts = new FakeCountTable();
  readonly index = new FakeIndex(adaptiveConfig, { pageItems: 3 });
  private items = 0;

  application(): AdaptiveIndex {
    return new AdaptiveIndex(adaptiveConfig, this.counts.store(), {
      clock: this.clock,
      timeOfDay: () => this.clock.nowMs,
      random: () => 0.5,
    });
  }

  pass(ms: number): Promise<void> {
    return this.clock.runUntil(new Promise<void>((resolve) => this.clock.schedule(resolve, ms)));
  }

  increase(value: string, to: number): void {
    void increaseShardCount(adaptiveConfig, this.counts.store(), { value, to, ...why }, { clock: this.clock });
  }

  async put(writer: AdaptiveIndex, status: string, createdAt: number): Promise<DynamoDbItem> {
    const order = { orderId: `o-${this.items++}`, status, createdAt: String(createdAt).padStart(6, '0') };
    const { Item } = shardPut([await writer.forWriting()], order);
    const item = Object.fromEntries(Object.entries(Item).map(([name, text]) => [name, { S: String(text) }]));
    this.index.put(item);
    return item;
  }
}

const idOf = (item: DynamoDbItem) => (item.orderId as { S: string }).S;

describe('reads while counts increase', () => {
  test('fanOutItems – the counts increase between two reads – the second read also returns the items of the new shards', async () => {
    const play = new Play();
    const reader = play.application();
    const ids: string[] = [];
    for (let item = 0; item < 10; item++) ids.push(idOf(await play.put(play.application(), 'open', item)));
    const stream = fanOutItems(play.index, reader, { value: 'open', limit: 4 }, { clock: play.clock });
    const streamed = (await allOf(stream)).map(idOf);
    play.increase('open', 8);
    await play.pass(60_000);
    for (let item = 0; item < 40; item++) ids.push(idOf(await play.put(play.application(), 'open', item)));
    const resumeAt = stream.resumePoint!;
    const rest = await allOf(fanOutItems(play.index, reader, { value: 'open', resumeAt }, { clock: play.clock }));
    streamed.push(...rest.map(idOf));
    expect(streamed.sort()).toEqual(ids.sort());
  });
});

const never = async (): Promise<never> => {
  throw new Error('unexpected request');
};
const TABLE = { scan: never, getItem: never, updateItem: never };

describe('a configuration with adaptive counts', () => {
  const unresolved: [string, (config: ShardedConfig) => unknown][] = [
    ['fanOutQuery', (config) => fanOutQuery(new FakeIndex(adaptiveConfig), config, { value: 'open' })],
    ['fanOutCount', (config) => fanOutCount(new FakeIndex(adaptiveConfig), config, { value: 'open' })],
    ['fanOutItems', async (config) => fanOutItems(new FakeIndex(adaptiveConfig), config, { value: 'open' })],
    ['shardAttributes', async (config) => shardAttributes(config, { orderId: 'a', status: 'open' })],
    ['shardPut', async (config) => shardPut([config], { orderId: 'a', status: 'open' })],
    ['shardUpdate', async (config) => shardUpdate([config], { orderId: 'a' }, { set: { status: 'open' } })],
    ['reshardItems', (config) => reshardItems(TABLE, config as never)],
  ];

  test.each(unresolved)('is rejected by %s, because its counts may be outdated', async (_, use) => {
    await expect(use(adaptiveConfig)).rejects.toThrow(InvalidIndexConfigError);
    await expect(use(adaptiveConfig)).rejects.toThrow('config.version must be 1 or absent');
  });

  test('contains the current count, which determines the shard of an item', async () => {
    const play = new Play();
    play.increase('open', 8);
    await play.pass(60_000);
    const config = await play.application().forWriting();
    const shard = (status: string) => shardAttributes(config, { orderId: 'o-7', status, createdAt: 1 }).byStatusShard;
    expect([shard('open'), shard('paid')]).toEqual([`open#${calculatedShard('o-7', 8)}`, 'paid#0']);
  });
});
