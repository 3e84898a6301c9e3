import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
import { App, Stack } from 'aws-cdk-lib';
import { AttributeType } from 'aws-cdk-lib/aws-dynamodb';
import { KeyLayout, ShardCounts, ShardedTable } from '../../lib';
import {
  AdaptiveIndex,
  DynamoDbShardCountStore,
  decreaseShardCount,
  fanOutItems,
  increaseShardCount,
  plainItem,
  type ShardedConfigSource,
  type ShardedIndexConfig,
  shardPut,
} from '../../lib/core';
import { dynaliteForTests } from '../support/dynalite';
import { jumpingClock } from '../support/fakes/jumping-clock';
import { createKeyedTable } from '../support/keyed-table';
import { createTable } from '../support/sharded-tables';

/**
 * Follows the guide from fixed counts to adaptive counts and back, deployment by deployment, on dynalite. Writers and
 * readers use the configurations that the app synthesizes. In each deployment, some functions already have the new
 * configuration, and other functions still have the old configuration.
 */

const { adaptive, byValue } = ShardCounts;
const FIXED = byValue({ pending: 4 }, 2);
const ADAPTIVE = adaptive({ initial: 2, initialByValue: { pending: 4 } });
const INITIAL = { pending: 6, open: 8, sent: 3 };
/**
 * An operator has decreased the count of `sent` from 6 to 3 shards, and the drain of the other shards has not ended.
 */
const READ = { ...INITIAL, sent: 6 };
const GROWN = adaptive({ initial: 2, initialByValue: INITIAL }).alsoReading(
  adaptive({ initial: 2, initialByValue: READ }),
);
const FIXED_AGAIN = byValue(INITIAL, 2).alsoReading(byValue(READ, 2));
const VALUES = ['pending', 'open', 'sent', 'new'];

/** The configuration of functions after a deployment. It names the table by the logical id. */
function deployed(shardCounts: ShardCounts): ShardedIndexConfig {
  const stack = new Stack(new App(), 'Orders');
  const table = new ShardedTable(stack, 'Table', { partitionKey: { name: 'orderId', type: AttributeType.STRING } });
  const index = table.addShardedIndex({
    indexName: 'byStatus',
    valueAttribute: { name: 'status', type: AttributeType.STRING },
    sortKey: { name: 'createdAt', type: AttributeType.STRING },
    keyLayout: KeyLayout.SINGLE_ATTRIBUTE,
    shardCounts,
  });
  const { 'Fn::Join': join } = stack.resolve(index.toConfigJson()) as { 'Fn::Join': [string, (string | object)[]] };
  const parts = join[1].map((part) => (typeof part === 'string' ? part : (part as { Ref: string }).Ref));
  return JSON.parse(parts.join(''));
}

const { dynamoDb } = dynaliteForTests();
const documents = DynamoDBDocument.from(dynamoDb);

beforeAll(async () => {
  const config = deployed(ADAPTIVE);
  await createTable(dynamoDb, config, { orderId: 'S', byStatusShard: 'S', createdAt: 'S' });
  await createKeyedTable(dynamoDb, config.adaptive!.tableName, 'index', 'value');
});

/** The order ids of each value. */
const written = new Map<string, string[]>(VALUES.map((value) => [value, []]));

/** Starts a function with the configuration of a deployment. */
function started(config: ShardedIndexConfig) {
  const index: ShardedIndexConfig | AdaptiveIndex =
    config.adaptive === undefined
      ? config
      : new AdaptiveIndex(config, new DynamoDbShardCountStore(dynamoDb, config), { random: () => 0 });
  return {
    async write(orders: number): Promise<void> {
      const counts = index instanceof AdaptiveIndex ? await index.forWriting() : index;
      for (const status of VALUES) {
        const orderIds = written.get(status)!;
        for (let order = 0; order < orders; order++) {
          const orderId = `${status}-${orderIds.length}`;
          orderIds.push(orderId);
          await documents.put(shardPut([counts], { orderId, status, createdAt: String(orderIds.length) }));
        }
      }
    },
    /** Expects to find all orders. Returns, for each value, the number of shards that contain orders. */
    read: async (): Promise<number[]> => {
      const shards: number[] = [];
      for (const value of VALUES) {
        const found = await ordersOf(index, value);
        expect(found.map(({ orderId }) => orderId).sort()).toEqual([...written.get(value)!].sort());
        shards.push(new Set(found.map(({ byStatusShard }) => byStatusShard)).size);
      }
      return shards;
    },
  };
}

async function ordersOf(index: ShardedIndexConfig | ShardedConfigSource, value: string) {
  const found: { orderId: string; byStatusShard: string }[] = [];
  for await (const item of fanOutItems(dynamoDb, index, { value })) found.push(plainItem(item));
  return found;
}

/**
 * Writes and reads with the configurations before and after a deployment. Returns, for each value, the number of shards
 * that contain orders.
 */
async function deploy(before: ShardCounts, after: ShardCounts): Promise<number[]> {
  const [old, next] = [deployed(before), deployed(after)];
  let shards: number[] = [];
  for (const writer of [old, next, old]) {
    await started(writer).write(10);
    for (const reader of [old, next]) shards = await started(reader).read();
  }
  return shards;
}

test('no query misses an order between fixed and adaptive counts, whether readers or writers are deployed first', async () => {
  expect(await deploy(FIXED, ADAPTIVE)).toEqual([4, 2, 2, 2]);

  const config = deployed(ADAPTIVE);
  const store = new DynamoDbShardCountStore(dynamoDb, config);
  const why = { reason: 'to see', changedBy: 'a test' };
  for (const [value, to] of Object.entries(READ)) {
    await increaseShardCount(config, store, { ...why, value, to }, { clock: jumpingClock() });
  }
  await started(config).write(40);
  await decreaseShardCount(config, store, { ...why, value: 'sent', to: 3 }, { clock: jumpingClock() });
  expect(await started(config).read()).toEqual([6, 8, 6, 2]);

  // The next deployment has the counts that the table of counts contains now.
  const counts = Object.fromEntries(
    (await store.readCounts()).map(({ value, write, read }) => [value, { write, read }]),
  );
  expect(deployed(GROWN).shards.byValue).toEqual(counts);

  await deploy(ADAPTIVE, GROWN);
  expect(await deploy(GROWN, FIXED_AGAIN)).toEqual([6, 8, 6, 2]);

  // If a deployment skips the second step and returns to the first counts, queries miss orders.
  expect((await ordersOf(deployed(FIXED), 'open')).length).toBeLessThan(written.get('open')!.length);
}, 120_000);
