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
import { HeldItems } from '../../../../support/fakes/held-items';
import { invoices } from '../../../../support/fakes/invoices';
import { timeIndex } from '../../../../support/tables/fan-out/time-index';

const KILOBYTE = 1_000;

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

describe('the memory of a page', () => {
  test('is that of the page and of the answers in flight, at 1,000 shards of items of 400 kB', async () => {
    const client = new HeldItems(filled(1_000, 3_000, 400 * KILOBYTE));
    const { items, stats } = await fanOutQuery(client, timeIndex(1_000), { limit: 12 });
    expect(items.map(({ at }) => at)).toEqual(Array.from({ length: 12 }, (_, at) => ({ N: String(at) })));
    // 12 of the page, half as many until the end is looked for again, and two for each of 50 requests in flight.
    expect(client.most).toBeLessThanOrEqual(12 + 6 + 2 * 50);
    expect(stats.itemsRead).toBeLessThan(300);
  });
});

describe('what bounds a page', () => {
  test.each([{ limit: 3 }, { maxReadUnits: 1 }, { order: 'ascending' }, { projection: ['id'] }])(
    'is refused by a count, which would not heed it: %j',
    async (bound) => {
      const count = fanOutCount(filled(5, 1, 1), timeIndex(5), bound as never);
      await expect(count).rejects.toThrow(`${Object.keys(bound)[0]} must be absent because a count counts everything`);
    },
  );

  test('in read units is refused by a stream, which would not heed it', () => {
    const stream = () => fanOutItems(filled(5, 1, 1), timeIndex(5), { maxReadUnits: 1 } as never);
    expect(stream).toThrow('maxReadUnits must be absent because a stream reads on');
  });
});

describe('maxReadUnits', () => {
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
    'ends an %s page whose filter hides nearly all, and the next pages find the rest',
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

  test('always lets a page go on, however few the units are', async () => {
    const pages = await pagesOf(filled(5, 300, 2_000), 5, { limit: 100, maxReadUnits: 0.1 });
    expect(pages.flatMap(({ items }) => items)).toHaveLength(300);
    expect(Math.max(...pages.map(({ stats }) => stats.consumedReadUnits))).toBeLessThanOrEqual(2.5);
  });

  const hidden = { ...rare, expressionAttributeValues: { ':yes': { S: 'nobody has it' } } };

  // Once each page took an item of each shard for a block, found out nothing of its size, and ended: 24,990 units over an index of 275.
  test.each(['ascending', 'descending', 'unordered'] as const)(
    'lets %s pages whose filter hides everything read an index about once, together',
    async (order) => {
      const index = filled(5, 10_000, 200);
      const pages = await pagesOf(index, 5, { ...hidden, order, limit: 20, maxReadUnits: 20 });
      const units = pages.reduce((sum, { stats }) => sum + stats.consumedReadUnits, 0);
      expect(units).toBeLessThan((1.5 * 10_000 * 230) / 8_192);
      for (const { stats } of pages) expect(stats.consumedReadUnits).toBeLessThanOrEqual(20);
    },
  );

  // Once a page of one item went on with an item of each shard, which taught it no size either: 753 units over an index of 28.
  test.each(['ascending', 'descending', 'unordered'] as const)(
    'lets %s pages of one item, too, read an index at most three times, together',
    async (order) => {
      const index = filled(5, 1_000, 200);
      const pages = await pagesOf(index, 5, { ...hidden, order, limit: 1, maxReadUnits: 5 });
      const units = pages.reduce((sum, { stats }) => sum + stats.consumedReadUnits, 0);
      expect(units).toBeLessThan((3 * 1_000 * 230) / 8_192);
    },
  );

  test('do not hold up a page of very many shards', async () => {
    const shards = 10_000;
    const client = {
      query: async () => ({ Items: [], Count: 0, ScannedCount: 0, ConsumedCapacity: { CapacityUnits: 0.5 } }),
    };
    const page = fanOutQuery(client, timeIndex(shards), { order: 'unordered', maxReadUnits: 3_000 });
    expect((await page).cursor).toBeUndefined();
  });

  test('pay for half as much of consistent reads', async () => {
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

  test('bound pages of a client that does not say what its reads cost by what they ask for', async () => {
    const index = filled(5, 1_000, 200);
    const silent: QueryClient = {
      query: async (input) => ({ ...(await index.query(input)), ConsumedCapacity: undefined }),
    };
    const { items, stats } = await fanOutQuery(silent, timeIndex(5), { limit: 20, projection: ['id'] });
    expect(items).toHaveLength(20);
    expect(stats.consumedReadUnits).toBe(0);
    for (const { Limit } of index.requests) expect(Limit).toBeLessThanOrEqual(20);
  });

  test.each([0, Number.NaN, null])('must be a number greater than 0: %p', async (maxReadUnits) => {
    const page = fanOutQuery(filled(5, 1, 1), timeIndex(5), { maxReadUnits } as never);
    await expect(page).rejects.toThrow(InvalidArgumentError);
    await expect(page).rejects.toThrow('maxReadUnits must be a number of read units greater than 0');
  });
});
