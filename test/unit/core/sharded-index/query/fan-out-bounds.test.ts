import { type FanOutRequest, fanOutCount, fanOutItems, fanOutQuery, type QueryClient } from '../../../../../lib/core';
import { seededRandom } from '../../../../../lib/testing/seeded-random';
import { allPages } from '../../../../support/all-pages';
import { FakeIndex } from '../../../../support/fakes/fake-index';
import { invoices } from '../../../../support/fakes/invoices';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

function filled(count: number, bytes: number | ((number: number) => number)): FakeIndex {
  const index = new FakeIndex(timeIndex(5));
  const random = seededRandom(7);
  for (let number = 0; number < count; number++) {
    index.put({
      id: { S: `item-${String(number).padStart(6, '0')}` },
      at: { N: String(number) },
      shard: { N: String(Math.floor(random() * 5)) },
      pad: { S: 'x'.repeat(typeof bytes === 'number' ? bytes : bytes(number)) },
      rare: { S: number % 1_000 === 500 ? 'yes' : 'no' },
    });
  }
  return index;
}

describe('requests with limits that do not apply', () => {
  test.each([{ limit: 3 }, { maxReadUnits: 1 }, { order: 'ascending' }, { projection: ['id'] }])(
    'fanOutCount rejects %j, because it counts all items',
    async (bound) => {
      const count = fanOutCount(filled(1, 1), timeIndex(5), bound as never);
      await expect(count).rejects.toThrow(`${Object.keys(bound)[0]} must be absent because a count includes all items`);
    },
  );

  test('fanOutItems rejects maxReadUnits, because it reads all items', () => {
    const stream = () => fanOutItems(filled(1, 1), timeIndex(5), { maxReadUnits: 1 } as never);
    expect(stream).toThrow('maxReadUnits must be absent because a stream has no bound on its cost');
  });
});

describe('fanOutQuery with maxReadUnits', () => {
  const pagesOf = (index: FakeIndex, request: FanOutRequest) =>
    allPages((cursor) => fanOutQuery(index, timeIndex(5), { ...request, cursor }));
  const rare: FanOutRequest = {
    filterExpression: '#rare = :yes',
    expressionAttributeNames: { '#rare': 'rare' },
    expressionAttributeValues: { ':yes': { S: 'yes' } },
  };

  test.each(['ascending', 'descending', 'unordered'] as const)(
    'ends an %s page whose filter removes nearly all items, and the next pages return the remaining items',
    async (order) => {
      const pages = await pagesOf(filled(10_000, 200), { ...rare, order, limit: 10, maxReadUnits: 20 });
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
    const pages = await pagesOf(filled(300, 2_000), { limit: 100, maxReadUnits: 0.1 });
    expect(pages.flatMap(({ items }) => items)).toHaveLength(300);
    expect(Math.max(...pages.map(({ stats }) => stats.consumedReadUnits))).toBeLessThanOrEqual(2.5);
  });

  test.each([
    ['much larger', (number: number) => (number < 500 ? 20 : 5_000), 40],
    ['ever larger', (number: number) => 5 * number, 5],
  ])(
    'if later items are %s than earlier items, exceeds the bound by at most one request of 1 MB to each shard',
    async (_, bytes, maxReadUnits) => {
      const pages = await pagesOf(filled(2_000, bytes), { maxReadUnits });
      const units = pages.map(({ stats }) => stats.consumedReadUnits);
      expect(Math.max(...units)).toBeLessThanOrEqual(maxReadUnits + 5 * 128);
      expect(Math.max(...units)).toBeGreaterThan(maxReadUnits);
      expect(pages.flatMap(({ items }) => items)).toHaveLength(2_000);
    },
  );

  const hidden = { ...rare, expressionAttributeValues: { ':yes': { S: 'no item has this' } } };

  // Regression test: in an earlier version, the pages learned no item size, and consumed 24,990 and 753 units. One read
  // of the whole index costs 275 and 28 units.
  test.each(
    (['ascending', 'descending', 'unordered'] as const).flatMap((order) => [
      { order, limit: 20, maxReadUnits: 20, items: 10_000, times: 1.5 },
      { order, limit: 1, maxReadUnits: 5, items: 1_000, times: 3 },
    ]),
  )(
    'reads the index at most $times times over all $order pages of $limit items together if the filter removes all items',
    async ({ items, times, ...bounds }) => {
      const pages = await pagesOf(filled(items, 200), { ...hidden, ...bounds });
      const units = pages.map(({ stats }) => stats.consumedReadUnits);
      expect(units.reduce((sum, each) => sum + each, 0)).toBeLessThan((times * items * 230) / 8_192);
      expect(Math.max(...units)).toBeLessThanOrEqual(20);
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
    const index = filled(1_000, 200);
    const silent: QueryClient = {
      query: async (input) => ({ ...(await index.query(input)), ConsumedCapacity: undefined }),
    };
    const { items, stats } = await fanOutQuery(silent, timeIndex(5), { limit: 20, projection: ['id'] });
    expect(items).toHaveLength(20);
    expect(stats.consumedReadUnits).toBe(0);
    for (const { Limit } of index.requests) expect(Limit).toBeLessThanOrEqual(20);
  });
});
