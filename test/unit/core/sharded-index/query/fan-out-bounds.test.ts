import {
  type FanOutRequest,
  fanOutCount,
  fanOutItems,
  fanOutQuery,
  InvalidArgumentError,
  type QueryClient,
} from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

function filled(shards: number, count: number, bytes: number): FakeIndex {
  const index = new FakeIndex(timeIndex(shards));
  const random = seededRandom(7);
  const pad = 'x'.repeat(bytes);
  for (let number = 0; number < count; number++) {
    index.put({
      id: { S: `item-${String(number).padStart(6, '0')}` },
      at: { N: String(number) },
      shard: { N: String(Math.floor(random() * shards)) },
      pad: { S: pad },
      rare: { S: number % 1_000 === 500 ? 'yes' : 'no' },
    });
  }
  return index;
}

describe('requests with limits that do not apply', () => {
  test.each([{ limit: 3 }, { maxReadUnits: 1 }, { order: 'ascending' }, { projection: ['id'] }])(
    'fanOutCount rejects %j, because it counts all items',
    async (bound) => {
      const count = fanOutCount(filled(5, 1, 1), timeIndex(5), bound as never);
      await expect(count).rejects.toThrow(`${Object.keys(bound)[0]} must be absent because a count includes all items`);
    },
  );

  test('fanOutItems rejects maxReadUnits, because it reads all items', () => {
    const stream = () => fanOutItems(filled(5, 1, 1), timeIndex(5), { maxReadUnits: 1 } as never);
    expect(stream).toThrow('maxReadUnits must be absent because a stream has no bound on its cost');
  });
});

describe('fanOutQuery with maxReadUnits', () => {
  const pagesOf = async (index: FakeIndex, shards: number, request: FanOutRequest) => {
    const pages: Awaited<ReturnType<typeof fanOutQuery>>[] = [];
    let cursor: string | undefined;
    do {
      pages.push(await fanOutQuery(index, timeIndex(shards), { ...request, cursor }));
      cursor = pages.at(-1)!.cursor;
    } while (cursor !== undefined);
    return pages;
  };
  const rare: FanOutRequest = {
    filterExpression: '#rare = :yes',
    expressionAttributeNames: { '#rare': 'rare' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  };

  test.each(['ascending', 'descending', 'unordered'] as const)(
    'ends an %s page whose filter removes nearly all items, and the next pages return the remaining items',
    async (order) => {
      const pages = await pagesOf(filled(5, 10_000, 200), 5, { ...rare, order, limit: 10, maxReadUnits: 20 });
      for (const { stats } of pages) expect(stats.consumedReadUnits).toBeLessThanOrEqual(20);
      const found = pages.flatMap(({ items }) => items.map(({ id }) => (id as { S: string }).S));
      expect(found.toSorted()).toEqual(
        Array.from({ length: 10 }, (_, n) => `item-${String(n * 1_000 + 500).padStart(6, '0')}`),
      );
      expect(pages.length).toBeGreaterThan(5);
      const hidden = pages.reduce((sum, { stats }) => sum + stats.itemsHidden, 0);
      expect(hidden).toBeGreaterThanOrEqual(9_990);
    },
  );

  test('reads at least one item on each page, even with 0.1 read units', async () => {
    const pages = await pagesOf(filled(5, 300, 2_000), 5, { limit: 100, maxReadUnits: 0.1 });
    expect(pages.flatMap(({ items }) => items)).toHaveLength(300);
    expect(Math.max(...pages.map(({ stats }) => stats.consumedReadUnits))).toBeLessThanOrEqual(2.5);
  });

  const hidden = { ...rare, expressionAttributeValues: { ':yes': { S: 'no item has this' } } };

  // Regression test: in an earlier version, each page read one item from each shard, learned no item size, and ended.
  // One read of the whole index costs 275 units, but its pages consumed 24,990 units.
  test.each(['ascending', 'descending', 'unordered'] as const)(
    'reads the index about once over all %s pages together if the filter removes all items',
    async (order) => {
      const index = filled(5, 10_000, 200);
      const pages = await pagesOf(index, 5, { ...hidden, order, limit: 20, maxReadUnits: 20 });
      const units = pages.reduce((sum, { stats }) => sum + stats.consumedReadUnits, 0);
      expect(units).toBeLessThan((1.5 * 10_000 * 230) / 8_192);
      for (const { stats } of pages) expect(stats.consumedReadUnits).toBeLessThanOrEqual(20);
    },
  );

  // Regression test: in an earlier version, a page of one item read a second item from each shard, and learned no item
  // size. One read of the whole index costs 28 units, but its pages consumed 753 units.
  test.each(['ascending', 'descending', 'unordered'] as const)(
    'reads the index at most three times over all %s pages of one item together if the filter removes all items',
    async (order) => {
      const index = filled(5, 1_000, 200);
      const pages = await pagesOf(index, 5, { ...hidden, order, limit: 1, maxReadUnits: 5 });
      const units = pages.reduce((sum, { stats }) => sum + stats.consumedReadUnits, 0);
      expect(units).toBeLessThan((3 * 1_000 * 230) / 8_192);
    },
  );

  test('reads all of 10,000 shards if the shards are empty', async () => {
    const shards = 10_000;
    const client = {
      query: async () => ({ Items: [], Count: 0, ScannedCount: 0, ConsumedCapacity: { CapacityUnits: 0.5 } }),
    };
    const page = fanOutQuery(client, timeIndex(shards), { order: 'unordered', maxReadUnits: 3_000 });
    expect((await page).cursor).toBeUndefined();
  });

  test('reads half as many items for the same number of units if the reads are consistent', async () => {
    const index = new FakeIndex(invoices);
    for (let number = 0; number < 300; number++) {
      index.put({
        InvoiceNumber: { S: `7-${1 + (number % 5)}` },
        ClientTransactionId: { S: String(number).padStart(3, '0') },
        pad: { S: 'x'.repeat(1_000) },
      });
    }
    const itemsOf = async (request: FanOutRequest) =>
      (await fanOutQuery(index, invoices, { value: '7', limit: 300, ...request })).items;
    const items = await itemsOf({ maxReadUnits: 10 });
    expect(items.length).toBeGreaterThan(50);
    expect(await itemsOf({ maxReadUnits: 20, consistentRead: true })).toEqual(items);
  });

  test('reads at most one page of items from a client that does not report consumed capacity', async () => {
    const index = filled(5, 1_000, 200);
    const silent: QueryClient = {
      query: async (input) => ({ ...(await index.query(input)), ConsumedCapacity: undefined }),
    };
    const { items, stats } = await fanOutQuery(silent, timeIndex(5), { limit: 20, projection: ['id'] });
    expect(items).toHaveLength(20);
    expect(stats.consumedReadUnits).toBe(0);
    for (const { Limit } of index.requests) expect(Limit).toBeLessThanOrEqual(20);
  });

  test.each([0, Number.NaN, null])('rejects maxReadUnits %p', async (maxReadUnits) => {
    const page = fanOutQuery(filled(5, 1, 1), timeIndex(5), { maxReadUnits } as never);
    await expect(page).rejects.toThrow(InvalidArgumentError);
    await expect(page).rejects.toThrow('maxReadUnits must be a number of read units greater than 0');
  });
});
