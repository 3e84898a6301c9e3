import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import type { AdaptiveIndex, FanOutRequest, GrownCount, ShardCountStore, ShardedIndexConfig } from '../../../lib/core';
import { type Clock, LONGEST_TIMER_MS } from '../../../lib/core/kernel/clock';
import type { Item } from './index-worker';
import { serve, type WorkerContext } from './serve';

/** The index, and the time of all processes in milliseconds. */
export interface CountsInput {
  config: ShardedIndexConfig;
  now: number;
}

export interface ChangeInput extends CountsInput {
  value: string;
  to: number;
  /** Whether the process ends during the first wait of the change. */
  isInterrupted: boolean;
}

export function countsCalls({ core, dynamoDb }: WorkerContext) {
  const documents = DynamoDBDocument.from(dynamoDb);
  let now = 0;
  let isInterrupted = false;
  /** A wait ends immediately, and adds its time. So the test does not wait for 45 seconds. */
  const clock: Clock = {
    now: () => now,
    schedule(callback, delayMs) {
      const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
      return () => clearTimeout(timer);
    },
    async sleep(delayMs) {
      if (isInterrupted) throw new Error('the process ended during a wait');
      now += delayMs;
    },
  };
  let index: AdaptiveIndex | undefined;
  let store: ShardCountStore | undefined;
  const at = ({ config, now: time }: CountsInput): { index: AdaptiveIndex; store: ShardCountStore } => {
    now = time;
    isInterrupted = false;
    store ??= new core.DynamoDbShardCountStore(dynamoDb, config);
    index ??= new core.AdaptiveIndex(config, store, { clock, timeOfDay: () => now });
    return { index, store };
  };

  return {
    async put(input: CountsInput & { item: Item }): Promise<void> {
      const config = await at(input).index.forWriting(input.item.status as string);
      await documents.put(core.shardPut([config], input.item));
    },
    async query(input: CountsInput & { request: FanOutRequest }) {
      const { items, cursor } = await core.fanOutQuery(dynamoDb, at(input).index, input.request);
      return { ids: items.map((item) => core.plainItem<{ id: string }>(item).id), cursor };
    },
    count: (input: CountsInput & { value: string }): Promise<GrownCount | undefined> =>
      at(input).store.readCount!(input.value),
    /** Increases a count. Returns the time after the wait. */
    async increase({ value, to, ...input }: ChangeInput): Promise<number> {
      const { config } = input;
      const { store: counts } = at(input);
      isInterrupted = input.isInterrupted;
      await core.increaseShardCount(config, counts, { value, to, reason: 'test', changedBy: 'test' }, { clock });
      return now;
    },
    /** Decreases a count for writers. Returns the stored version, and the time after the wait. */
    async decrease({ value, to, ...input }: ChangeInput) {
      const { config } = input;
      const { store: counts } = at(input);
      isInterrupted = input.isInterrupted;
      const change = { value, to, reason: 'test', changedBy: 'test' };
      const { version } = await core.decreaseShardCount(config, counts, change, { clock });
      return { version, now };
    },
    /** Moves the items out of the shards that writers no longer use. */
    async drain(input: CountsInput): Promise<void> {
      const report = await core.reshardItems(dynamoDb, at(input).index, { clock });
      if (report.resumePoint !== undefined) throw new Error('the drain is not complete');
    },
    async endDrain({
      value,
      version,
      ...input
    }: CountsInput & { value: string; version: number }): Promise<GrownCount> {
      const { store: counts } = at(input);
      return core.endDrain(input.config, counts, { value, version, reason: 'test', changedBy: 'test' });
    },
  };
}

serve(countsCalls);
