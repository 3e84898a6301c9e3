import { readFileSync } from 'node:fs';
import { DynamoDbParkingStore, OrderedConsumer, type ParkingTableClient } from '../../../../lib/core/consumer';
import { PARKING_METHODS, ParkingTable } from '../../../support/fakes/parking-table';
import { SOURCE, shardOf } from '../../../support/fakes/stream-events';

const BATCHES = 50;
const KEYS_OF_BATCH = 100;

/** The number of items that were read, and the number of requests for each method. */
interface Cost {
  itemsRead: number;
  requests: Record<string, number>;
}

function countedStore(): { store: DynamoDbParkingStore; cost: Cost } {
  const table = new ParkingTable();
  const cost: Cost = { itemsRead: 0, requests: {} };
  const counted = PARKING_METHODS.map((method) => {
    const call = async (input: never): Promise<unknown> => {
      cost.requests[method] = (cost.requests[method] ?? 0) + 1;
      if (method === 'getItem') cost.itemsRead += 1;
      // A missing item costs as much as an existing item.
      if (method === 'batchGetItem')
        cost.itemsRead += (input as Parameters<ParkingTable['batchGetItem']>[0]).RequestItems.Parked!.Keys.length;
      return table[method](input);
    };
    return [method, call] as const;
  });
  const client = Object.fromEntries(counted) as unknown as ParkingTableClient;
  return { store: new DynamoDbParkingStore(client, { tableName: 'Parked', consumer: 'c' }), cost };
}

const parkedKey = (partitionKey: string) => ({
  ...{ partitionKey, first: 0, next: 1, parkedUpTo: {}, since: 0, tries: 2, retries: 0, dueAt: 0, dead: false },
});
const record = (partitionKey: string) => ({
  ...{ partitionKey, data: Buffer.from('x'), subSequenceNumber: 0, positions: [{ series: 's', number: '1' }] },
});

/** From the table in the guide: how many items a batch of 100 keys reads for each number of parked keys. */
const readsInGuide = [
  ...readFileSync('docs/guides/consuming.md', 'utf8').matchAll(/^\| (none|[\d,]+) \| (\d+) \|/gm),
].map(([, keys, reads]) => [keys === 'none' ? 0 : Number(keys!.replace(',', '')), Number(reads)] as const);

test('the guide to consuming contains the cost of 0, 1, 100 and 10,000 parked keys', () => {
  expect(readsInGuide.map(([keys]) => keys)).toEqual([0, 1, 100, 10_000]);
});

test.each(readsInGuide)('with %d parked keys, a batch of 100 keys reads %d items', async (keys, reads) => {
  const { store, cost } = countedStore();
  for (let key = 0; key < keys; key++) await store.save(parkedKey(`parked ${key}`), [record(`parked ${key}`)]);
  cost.itemsRead = 0;
  cost.requests = {};
  for (let batch = 0; batch < BATCHES; batch++) {
    const found = await store.find(Array.from({ length: KEYS_OF_BATCH }, (_, key) => `key ${batch} ${key}`));
    expect(found.size).toBe(0);
  }
  expect(Math.round(cost.itemsRead / BATCHES)).toBe(reads);
  if (keys === 0) expect(cost.requests).toEqual({ getItem: BATCHES });
});

test('the consumer parks a key with two writes of the mark and one transaction, and appends a record with one transaction', async () => {
  const { store, cost } = countedStore();
  const key = await store.save(parkedKey('a'), [record('a')]);
  expect(cost.requests).toEqual({ updateItem: 2, transactWriteItems: 1 });
  cost.requests = {};
  await store.save({ ...key!, next: 2 }, [record('a')]);
  expect(cost.requests).toEqual({ transactWriteItems: 1 });
});

test('a listing sends one query for each part of the keys that contains parked keys, and no query after the last key was removed', async () => {
  const { store, cost } = countedStore();
  const key = await store.save(parkedKey('a'), [record('a')]);
  cost.requests = {};
  for await (const _ of store.keys());
  expect(cost.requests).toEqual({ getItem: 1, query: 1 });
  expect(await store.remove({ ...key!, first: 1 })).toBe(true);
  cost.requests = {};
  expect(await store.find(['a', 'b'])).toEqual(new Map());
  expect(cost.requests).toEqual({ getItem: 1 });
});

test('a batch without parked keys writes nothing', async () => {
  const { store, cost } = countedStore();
  await store.save(parkedKey('p'), [record('p')]);
  cost.requests = {};
  const consumer = new OrderedConsumer(() => {}, { parking: store });
  expect(await consumer.process(shardOf(['a1', 'b1', 'a2']), { source: SOURCE })).toEqual({ problems: [] });
  expect(Object.keys(cost.requests).filter((method) => !/get/i.test(method))).toEqual([]);
});
