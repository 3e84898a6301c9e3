import {
  DynamoDbShardCountStore,
  decreaseShardCount,
  increaseShardCount,
  WriteReporter,
} from 'cdk-even-shards/adaptive-counts';
import type { ShardedIndexConfig } from 'cdk-even-shards/sharded-index';
import { ParkingTable } from '../../test/support/fakes/parking-table';
import type { Written } from './written';

export const ADAPTIVE: ShardedIndexConfig = {
  version: 2,
  tableName: 'Orders',
  indexName: 'byStatus',
  tableKey: ['orderId'],
  keyLayout: 'multi-attribute',
  valueAttribute: 'status',
  shardAttribute: 'shard',
  sortKeyAttributes: ['createdAt'],
  shards: { default: { write: 1, read: 1 }, byValue: { new: { write: 2, read: 2 } } },
  strategy: 'random',
  adaptive: { tableName: 'Counts', maximum: 32 },
};
const { valueAttribute: _, ...WHOLE_TABLE } = { ...ADAPTIVE, indexName: 'byTime' };

/** A clock whose waits take no time. */
function clock() {
  let now = 0;
  const sleep = async (ms: number) => {
    now += ms;
  };
  return { now: () => now, sleep } as never;
}

function storeOn(table: ParkingTable, config: ShardedIndexConfig) {
  const client = {
    query: async (input: never) => structuredClone(table.query(input)),
    putItem: async (input: object) => table.putItem(structuredClone(input) as never),
  };
  return new DynamoDbShardCountStore(client as never, config);
}

const BY = { reason: 'the writes of a minute need more shards', changedBy: 'controller' };

export async function counts(): Promise<Written> {
  const written: Record<string, unknown> = {};
  const table = new ParkingTable(['index', 'value']);
  const keep = async (name: string, config: ShardedIndexConfig) => {
    const stored = await storeOn(table, config).readCounts();
    written[name] = { config, counts: stored, table: structuredClone(table.all) };
  };
  const store = storeOn(table, ADAPTIVE);
  const readersOnly = increaseShardCount(
    ADAPTIVE,
    store,
    { value: 'new', to: 8, ...BY },
    {
      clock: { now: () => 0, sleep: () => new Promise(() => {}) } as never,
    },
  );
  readersOnly.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await keep('after an increase for readers', ADAPTIVE);
  await increaseShardCount(ADAPTIVE, store, { value: 'new', to: 8, ...BY }, { clock: clock() });
  await increaseShardCount(ADAPTIVE, store, { value: '=odd', to: 3, ...BY }, { clock: clock() });
  await keep('after an increase for writers', ADAPTIVE);
  const moveNothing = async () => [];
  await decreaseShardCount(ADAPTIVE, store, { value: 'new', to: 4, ...BY }, {
    clock: clock(),
    drain: moveNothing,
  } as never).catch(() => {});
  await keep('after a decrease for writers', ADAPTIVE);
  await increaseShardCount(WHOLE_TABLE, storeOn(table, WHOLE_TABLE), { to: 5, ...BY }, { clock: clock() });
  await keep('of an index without a value', WHOLE_TABLE);
  return { 'shard count': written, 'write report': await reports() };
}

async function reports() {
  const written: Record<string, unknown> = {};
  for (const [name, config, value] of [
    ['of a value', ADAPTIVE, 'new'],
    ['of an index without a value', WHOLE_TABLE, undefined],
  ] as const) {
    const table = new ParkingTable(['index', 'value']);
    let now = Date.parse('2026-12-01T12:00:10.000Z');
    const client = { updateItem: async (input: never) => table.updateItem(input) };
    const reporter = new WriteReporter(client as never, config, { timeOfDay: () => now });
    const ThrottlingReasons = [
      {
        reason: 'IndexWriteKeyRangeThroughputExceeded',
        resource: `arn:aws:dynamodb:eu-west-1:111111111111:table/${config.tableName}/index/${config.indexName}`,
      },
    ];
    const refuse = () => Promise.reject(Object.assign(new Error('throttled'), { ThrottlingReasons }));
    await reporter.watch(value, async () => ({}), 3);
    await reporter.watch(value, refuse, 2).catch(() => {});
    now += 60_000;
    await reporter.watch(value, async () => ({}));
    written[name] = {
      config,
      report: { value, start: Date.parse('2026-12-01T12:00:00.000Z'), admitted: 3, throttled: 2 },
      table: table.all,
    };
  }
  return written;
}
